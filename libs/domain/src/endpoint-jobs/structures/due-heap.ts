/**
 * The things that a heap must know of its items: when each is due, and where it lies, so that it can leave from the
 * middle.
 */
export interface DueSlots<Item> {
  /** Ascending. Where items may be equal and the order is told to others, the comparison settles it. */
  readonly compare: (a: Item, b: Item) => number;
  readonly dueAtMs: (item: Item) => number;
  /** The item's index, −1 while it is not in the heap. It lies in the item itself: a map beside the heap takes 50 bytes each. */
  readonly indexOf: (item: Item) => number;
  readonly setIndex: (item: Item, index: number) => void;
}

/** An item and its index, and where it lies in the frontier. */
interface Seen<Item> {
  readonly item: Item;
  readonly index: number;
  at: number;
}

/** Items by the instant at which they are due: an indexed binary heap. Every step is O(log n), the earliest O(1). */
export class DueHeap<Item> {
  readonly #items: Item[] = [];
  readonly #slots: DueSlots<Item>;

  constructor(slots: DueSlots<Item>) {
    this.#slots = slots;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  /** Infinite when nothing is due ever. */
  get nextAtMs(): number {
    const first = this.#items[0];
    return first === undefined ? Number.POSITIVE_INFINITY : this.#slots.dueAtMs(first);
  }

  has(item: Item): boolean {
    return this.#slots.indexOf(item) >= 0;
  }

  /** Adds the item, or puts it where it belongs since its instant has changed. */
  put(item: Item): void {
    const { indexOf, setIndex } = this.#slots;
    if (indexOf(item) < 0) {
      setIndex(item, this.#items.length);
      this.#items.push(item);
    }
    this.#settle(indexOf(item));
  }

  /** Absent is success. */
  remove(item: Item): void {
    const index = this.#slots.indexOf(item);
    if (index < 0) return;
    this.#slots.setIndex(item, -1);
    const last = this.#items.pop() as Item;
    if (last === item) return;
    this.#place(last, index);
    this.#settle(index);
  }

  /** All items, in no order. To be walked at once. */
  values(): Iterable<Item> {
    return this.#items;
  }

  /** Up to `limit` of the items that are due, the earliest first, without a look at the others. */
  due(nowMs: number, limit: number): readonly Item[] {
    const found: Item[] = [];
    const frontier = this.#frontier();
    this.#show(frontier, 0);
    for (let seen = frontier.first; seen !== undefined && found.length < limit; seen = frontier.first) {
      if (this.#slots.dueAtMs(seen.item) > nowMs) break;
      found.push(seen.item);
      frontier.remove(seen);
      this.#show(frontier, 2 * seen.index + 1);
      this.#show(frontier, 2 * seen.index + 2);
    }
    return found;
  }

  /** The items just below those that were found: the next earliest is among them. */
  #frontier(): DueHeap<Seen<Item>> {
    return new DueHeap({
      compare: (a, b) => this.#slots.compare(a.item, b.item),
      dueAtMs: ({ item }) => this.#slots.dueAtMs(item),
      indexOf: ({ at }) => at,
      setIndex: (seen, at) => {
        seen.at = at;
      },
    });
  }

  #show(frontier: DueHeap<Seen<Item>>, index: number): void {
    const item = this.#items[index];
    if (item !== undefined) frontier.put({ item, index, at: -1 });
  }

  #settle(index: number): void {
    const risen = this.#rise(index);
    if (risen === index) this.#sink(index);
  }

  #rise(from: number): number {
    const item = this.#items[from] as Item;
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >>> 1;
      const above = this.#items[parent] as Item;
      if (this.#slots.compare(item, above) >= 0) break;
      this.#place(above, index);
      index = parent;
    }
    this.#place(item, index);
    return index;
  }

  #sink(from: number): void {
    const item = this.#items[from] as Item;
    let index = from;
    for (let child = this.#lesserChild(index); child !== null; child = this.#lesserChild(index)) {
      const below = this.#items[child] as Item;
      if (this.#slots.compare(item, below) <= 0) break;
      this.#place(below, index);
      index = child;
    }
    this.#place(item, index);
  }

  #lesserChild(index: number): number | null {
    const left = 2 * index + 1;
    const right = left + 1;
    if (left >= this.#items.length) return null;
    if (right >= this.#items.length) return left;
    return this.#slots.compare(this.#items[right] as Item, this.#items[left] as Item) < 0 ? right : left;
  }

  #place(item: Item, index: number): void {
    this.#items[index] = item;
    this.#slots.setIndex(item, index);
  }
}
