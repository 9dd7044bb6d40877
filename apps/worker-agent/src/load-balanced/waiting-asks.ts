import { SlotLine } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { LinkRefusal } from '@berth/tunnel';

/** A slot is the caller's, counted already; or why there is none. */
type AskOutcome<Slot> =
  { readonly kind: 'given'; readonly slot: Slot } | { readonly kind: 'refused'; readonly reason: LinkRefusal };

interface WaitingAsk<Slot> {
  readonly asker: object;
  readonly settle: (outcome: AskOutcome<Slot>) => void;
}

/** Well below what routers wait for an answer; they ask again at once. */
const WAIT_MS = 2_000;

/** The questions of routers that a full worker may still have a slot for, each router's in its turn. */
export class WaitingAsks<Slot> {
  readonly #clock: Clock;
  readonly #line = new SlotLine<object, WaitingAsk<Slot>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#line.size;
  }

  /** A question that is given up, or has waited for long enough, leaves the line; a second one of an asker is refused. */
  wait(asker: object, signal: AbortSignal): Promise<AskOutcome<Slot>> {
    return new Promise((resolve) => {
      const refuse = (reason: LinkRefusal) => (): void => ask.settle({ kind: 'refused', reason });
      const giveUp = refuse('timed-out');
      const disarm = this.#clock.after(WAIT_MS, refuse('full'));
      const ask: WaitingAsk<Slot> = {
        asker,
        settle: (outcome) => {
          disarm();
          signal.removeEventListener('abort', giveUp);
          this.#line.leave(ask);
          resolve(outcome);
        },
      };
      signal.addEventListener('abort', giveUp);
      if (!this.#line.enter(ask)) refuse('full')();
    });
  }

  /** Gives a slot to whose turn it is. False: nobody waits. @param take counts it for the one who gets it */
  give(take: (asker: object) => Slot): boolean {
    const ask = this.#line.next();
    ask?.settle({ kind: 'given', slot: take(ask.asker) });
    return ask !== null;
  }

  /** Why nobody gets one any more. */
  dismiss(reason: LinkRefusal): void {
    for (const ask of this.#line.all()) ask.settle({ kind: 'refused', reason });
  }

  /** The asker has a slot more. */
  given(asker: object): void {
    this.#line.given(asker);
  }

  /** The asker has given one back. */
  returned(asker: object): void {
    this.#line.returned(asker);
  }
}
