import type { QueuedTicket, Tickets } from '@berth/jobs';

/** Removals under way at one time, per endpoint. */
const PENDING_MAX = 256;

/**
 * Takes used tickets out of the store without making their taker wait. A removal that fails does no harm: the ticket
 * is found stale by the next reader.
 */
export class TicketRemovals {
  readonly #tickets: Pick<Tickets, 'remove'>;
  readonly #onError: (error: unknown) => void;
  readonly #pending = new Map<string, Promise<void>>();

  constructor(tickets: Pick<Tickets, 'remove'>, onError: (error: unknown) => void) {
    this.#tickets = tickets;
    this.#onError = onError;
  }

  has(queued: QueuedTicket): boolean {
    return this.#pending.has(nameOf(queued));
  }

  add(queued: QueuedTicket): void {
    const name = nameOf(queued);
    const removal = this.#remove(queued).finally(() => this.#pending.delete(name));
    this.#pending.set(name, removal);
  }

  /** Resolves when another removal may be added. */
  async room(): Promise<void> {
    while (this.#pending.size >= PENDING_MAX) await Promise.race(this.#pending.values());
  }

  /** Resolves when nothing is pending any more. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending.values());
  }

  async #remove(queued: QueuedTicket): Promise<void> {
    try {
      await this.#tickets.remove(queued);
    } catch (error) {
      this.#onError(error);
    }
  }
}

const nameOf = ({ ticket }: QueuedTicket): string => `${ticket.jobId}/${ticket.attempt}`;
