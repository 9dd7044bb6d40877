import { atEndOfTurn } from '@berth/lifecycle';

export interface TurnBatchOptions<Item> {
  readonly tell: (items: readonly Item[]) => void;
  /** How much of a message an item takes, near enough for a bound. */
  readonly bytesOf: (item: Item) => number;
  /** Items that are told together take no more; one item that does goes alone. */
  readonly bytesMax: number;
}

/** Gathers the answers that are known in one turn of the event loop, so that they leave in one message. */
export class TurnBatch<Item> {
  readonly #options: TurnBatchOptions<Item>;
  #items: Item[] = [];
  #bytes = 0;

  constructor(options: TurnBatchOptions<Item>) {
    this.#options = options;
  }

  add(item: Item): void {
    const bytes = this.#options.bytesOf(item);
    if (this.#bytes + bytes > this.#options.bytesMax) this.flush();
    if (this.#items.length === 0) atEndOfTurn(() => this.flush());
    this.#items.push(item);
    this.#bytes += bytes;
  }

  /** Tells what has been gathered without waiting for the end of the turn. */
  flush(): void {
    if (this.#items.length === 0) return;
    const items = this.#items;
    this.#items = [];
    this.#bytes = 0;
    this.#options.tell(items);
  }
}
