/** Hands out what it holds, the smallest first: a heap, for a plan asks for the next of very many. */
export class SmallestFirst<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #heap: T[] = [];

  /** @param compare below zero when `a` is smaller */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  peek(): T | null {
    return this.#heap[0] ?? null;
  }

  /** What was put in must keep its place in the order for as long as it is here. */
  put(item: T): void {
    this.#heap.push(item);
    let at = this.#heap.length - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#isSmaller(at, above)) return;
      this.#swap(at, above);
      at = above;
    }
  }

  take(): T | null {
    const first = this.peek();
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return first;
    this.#heap[0] = last;
    let at = 0;
    for (;;) {
      const smallest = this.#smallestOf(at);
      if (smallest === at) return first;
      this.#swap(at, smallest);
      at = smallest;
    }
  }

  /** Of an item and the two below it. */
  #smallestOf(at: number): number {
    let smallest = at;
    for (const below of [2 * at + 1, 2 * at + 2]) {
      if (below < this.#heap.length && this.#isSmaller(below, smallest)) smallest = below;
    }
    return smallest;
  }

  #isSmaller(a: number, b: number): boolean {
    return this.#compare(this.#heap[a] as T, this.#heap[b] as T) < 0;
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b] as T, this.#heap[a] as T];
  }
}
