import { DueHeap } from './due-heap.js';

/** A thing that is only remembered, and for how long. */
export interface Remembered {
  readonly name: string;
  /** From then on it counts as never heard of, Unix ms. */
  readonly untilMs: number;
  /** For the memory alone: where it lies. */
  memoryIndex: number;
}

/** Things by name that are forgotten by time alone; the earliest goes before its time when there are too many. */
export class TimedMemory<Item extends Remembered> {
  readonly #items = new Map<string, Item>();
  readonly #max: number;
  readonly #due = new DueHeap<Item>({
    compare: (a, b) => a.untilMs - b.untilMs || compareText(a.name, b.name),
    dueAtMs: ({ untilMs }) => untilMs,
    indexOf: ({ memoryIndex }) => memoryIndex,
    setIndex: (item, index) => {
      item.memoryIndex = index;
    },
  });

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#items.size;
  }

  get nextAtMs(): number {
    return this.#due.nextAtMs;
  }

  get(name: string): Item | undefined {
    return this.#items.get(name);
  }

  /** In the place of what had the name before. Returns what had to go for it; undefined where nothing had. */
  put(item: Item): Item | undefined {
    this.remove(item.name);
    this.#items.set(item.name, item);
    this.#due.put(item);
    return this.#items.size > this.#max ? this.#drop() : undefined;
  }

  remove(name: string): void {
    const item = this.#items.get(name);
    if (item === undefined) return;
    this.#items.delete(name);
    this.#due.remove(item);
  }

  /** Removes and returns the earliest of what is to be forgotten by now; undefined when nothing is. */
  forget(nowMs: number): Item | undefined {
    return this.#due.nextAtMs <= nowMs ? this.#drop() : undefined;
  }

  values(): Iterable<Item> {
    return this.#items.values();
  }

  #drop(): Item | undefined {
    const first = this.#due.first;
    if (first !== undefined) this.remove(first.name);
    return first;
  }
}

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
