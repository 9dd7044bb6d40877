/** Where a batch lies in the log: one object for all that was written whole in it. */
export interface LogPlace {
  /** The batch's sequence in the stream; null until the broker has acknowledged it. */
  sequence: number | null;
}

/** An item that lies in the log whole. The links are in the item itself, so that it can leave from the middle. */
export interface Carriable {
  place: LogPlace;
  older: Carriable | null;
  newer: Carriable | null;
}

/** Everything living, by the place at which it was last written whole, the oldest first. Every step is O(1). */
export class CarryList<Item extends Carriable> {
  #oldest: Carriable | null = null;
  #newest: Carriable | null = null;

  get oldest(): Item | null {
    return this.#oldest as Item | null;
  }

  /** Puts the item at the end: it has just been written whole at its place. */
  append(item: Item): void {
    item.older = this.#newest;
    item.newer = null;
    if (this.#newest === null) this.#oldest = item;
    else this.#newest.newer = item;
    this.#newest = item;
  }

  /** Puts the item behind one of the same place. */
  insertAfter(older: Item, item: Item): void {
    item.older = older;
    item.newer = older.newer;
    if (older.newer === null) this.#newest = item;
    else older.newer.older = item;
    older.newer = item;
  }

  remove(item: Item): void {
    const { newer, older } = item;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    item.older = null;
    item.newer = null;
  }

  /** The oldest first. To be walked at once. */
  *values(): Generator<Item> {
    for (let item = this.#oldest; item !== null; item = item.newer) yield item as Item;
  }
}
