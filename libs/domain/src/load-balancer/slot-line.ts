/** A question for a slot of a worker that has none free. */
export interface SlotAsk<Asker extends object> {
  /** One router, which has a share of the worker. */
  readonly asker: Asker;
}

/** More routers than any installation has. */
const ASKERS_MAX = 64;

/**
 * The slots of one worker among those that ask for them. A slot that comes free goes to the asker with the fewest; of
 * those with equally many, to the one that was given its last longest ago. So whoever has a question in line all the time
 * has its share, however fast another is with its next one.
 */
export class SlotLine<Asker extends object, Ask extends SlotAsk<Asker>> {
  /** One of each asker, oldest first: it says its next when this one is answered. */
  readonly #asks = new Map<Asker, Ask>();
  readonly #inFlight = new Map<Asker, number>();
  /** The number of the slot that each was given last; kept for as long as there is such an asker. */
  readonly #lastGiven = new WeakMap<Asker, number>();
  #given = 0;

  /** Questions in line. */
  get size(): number {
    return this.#asks.size;
  }

  /** False: its asker has one in line already, or there are as many as may be. */
  enter(ask: Ask): boolean {
    if (this.#asks.has(ask.asker) || this.#asks.size >= ASKERS_MAX) return false;
    this.#asks.set(ask.asker, ask);
    return true;
  }

  leave(ask: Ask): void {
    if (this.#asks.get(ask.asker) === ask) this.#asks.delete(ask.asker);
  }

  /** Whose turn it is; null: nobody asks. */
  next(): Ask | null {
    let first: Ask | null = null;
    for (const ask of this.#asks.values()) if (first === null || this.#comesBefore(ask.asker, first.asker)) first = ask;
    return first;
  }

  /** All in line. */
  all(): Ask[] {
    return [...this.#asks.values()];
  }

  /** It has one slot more, whether or not it had to ask in line. */
  given(asker: Asker): void {
    this.#given += 1;
    this.#lastGiven.set(asker, this.#given);
    this.#inFlight.set(asker, this.#inFlightOf(asker) + 1);
  }

  /** It has given one back. */
  returned(asker: Asker): void {
    const left = this.#inFlightOf(asker) - 1;
    if (left > 0) this.#inFlight.set(asker, left);
    else this.#inFlight.delete(asker);
  }

  #comesBefore(one: Asker, other: Asker): boolean {
    const more = this.#inFlightOf(one) - this.#inFlightOf(other);
    return more === 0 ? (this.#lastGiven.get(one) ?? 0) < (this.#lastGiven.get(other) ?? 0) : more < 0;
  }

  #inFlightOf(asker: Asker): number {
    return this.#inFlight.get(asker) ?? 0;
  }
}
