import type { EndpointId } from '@berth/domain';
import type { QueuedTicket, Tickets } from '@berth/jobs';

/** Tickets read at once. Small: what is read ahead here may be taken by another router meanwhile. */
const PAGE = 64;

/** Tickets whose delay still runs that are remembered; the others are found again by the next rewind. */
const DELAYED_MAX = 1_024;

/** Pages read in one go in search of a ticket that may be taken now. */
const PAGES_MAX = 16;

export interface TicketLaneOptions {
  readonly tickets: Pick<Tickets, 'list'>;
  readonly endpointId: EndpointId;
  readonly isLowPriority: boolean;
  /** True for a ticket that was used already and is on its way out of the store. */
  readonly isLeaving: (queued: QueuedTicket) => boolean;
}

/** The tickets of one endpoint and priority, read ahead in order. Those whose delay still runs stand aside. */
export class TicketLane {
  readonly #options: TicketLaneOptions;
  readonly #ready: QueuedTicket[] = [];
  #delayed: { readonly queued: QueuedTicket; readonly dueAtMs: number }[] = [];
  #lastSequence = 0;
  #isExhausted = false;
  /** Grows with every ring: one that comes while a page is being read speaks of what that page may not show. */
  #rings = 0;

  constructor(options: TicketLaneOptions) {
    this.#options = options;
  }

  /** New tickets may have come. */
  ring(): void {
    this.#rings += 1;
    this.#isExhausted = false;
  }

  /**
   * Reads from the oldest ticket again at the next fill: the timer's correction of all that a doorbell may miss.
   * A lane with tickets at hand is left alone, since they are the oldest there are.
   */
  rewind(): void {
    if (this.#ready.length > 0) return;
    this.#delayed = [];
    this.#lastSequence = 0;
    this.ring();
  }

  /** Makes the oldest takeable tickets available to `next`, as far as there are any. */
  async fill(nowMs: number): Promise<void> {
    this.#promote(nowMs);
    for (let page = 0; page < PAGES_MAX && this.#ready.length === 0 && !this.#isExhausted; page += 1) {
      await this.#readPage(nowMs);
    }
  }

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  next(): QueuedTicket | null {
    return this.#ready.shift() ?? null;
  }

  /** Sets a ticket that cannot be used before `dueAtMs` aside. */
  delay(queued: QueuedTicket, dueAtMs: number): void {
    this.#delayed.push({ queued, dueAtMs });
    if (this.#delayed.length <= DELAYED_MAX) return;
    this.#delayed.sort((a, b) => a.dueAtMs - b.dueAtMs);
    this.#delayed.length = DELAYED_MAX;
  }

  /** The instant at which the next ticket that stands aside may be taken; null when there is none. */
  get nextDueAtMs(): number | null {
    if (this.#delayed.length === 0) return null;
    return this.#delayed.reduce((least, { dueAtMs }) => Math.min(least, dueAtMs), Number.POSITIVE_INFINITY);
  }

  async #readPage(nowMs: number): Promise<void> {
    const { tickets, endpointId, isLowPriority, isLeaving } = this.#options;
    const rings = this.#rings;
    const page = await tickets.list({ endpointId, isLowPriority, afterSequence: this.#lastSequence, limit: PAGE });
    this.#isExhausted = page.length < PAGE && rings === this.#rings;
    for (const queued of page) {
      this.#lastSequence = Math.max(this.#lastSequence, queued.sequence);
      if (isLeaving(queued)) continue;
      if (queued.ticket.notBeforeMs > nowMs) this.delay(queued, queued.ticket.notBeforeMs);
      else this.#ready.push(queued);
    }
  }

  #promote(nowMs: number): void {
    const due = this.#delayed.filter(({ dueAtMs }) => dueAtMs <= nowMs);
    if (due.length === 0) return;
    this.#delayed = this.#delayed.filter(({ dueAtMs }) => dueAtMs > nowMs);
    this.#ready.push(...due.map(({ queued }) => queued));
    this.#ready.sort(bySequence);
  }
}

const bySequence = (a: QueuedTicket, b: QueuedTicket): number => a.sequence - b.sequence;
