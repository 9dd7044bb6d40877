import type { Clock } from '@berth/lifecycle';

interface Offer<Item> {
  readonly item: Item;
  readonly onTaken: () => void;
}

/** Hands items from several sources to one taker: none gives its next before the taker has taken what it gave. */
export class Handover<Item> {
  readonly #offers: Offer<Item>[] = [];
  #arrival = new AbortController();

  /** Resolves when it was taken, or when the signal aborts: then nobody takes it any more. */
  async put(item: Item, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#offers.push({ item, onTaken: resolve });
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
      this.#arrival.abort();
    });
  }

  /** Null when nothing came in time. */
  async take(
    withinMs: number,
    { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  ): Promise<Item | null> {
    if (this.#offers.length === 0) {
      this.#arrival = new AbortController();
      await clock.sleep(withinMs, AbortSignal.any([signal, this.#arrival.signal]));
    }
    const offer = this.#offers.shift();
    offer?.onTaken();
    return offer?.item ?? null;
  }
}
