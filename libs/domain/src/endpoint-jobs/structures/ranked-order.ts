/** Items in one run; a longer one is cut in two. A move within a run this long costs less than a step of a tree. */
const RUN_MAX = 1_024;

/**
 * Items in order, for "how many are before this one?" in O(log n): sorted runs, and a Fenwick tree over their lengths.
 * A tree of single items has the same bound and takes ten times the memory.
 *
 * The members of an item that the comparison reads must not change while the item is here. A key is as much of an item
 * as is compared.
 */
export class RankedOrder<Key, Item extends Key> {
  readonly #compare: (a: Key, b: Key) => number;
  readonly #runs: Item[][] = [];
  /** Sums of run lengths; element `n` covers the `n & -n` runs that end with run `n - 1`. */
  #sums: number[] = [0];
  #size = 0;

  constructor(compare: (a: Key, b: Key) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  get first(): Item | undefined {
    return this.#runs[0]?.[0];
  }

  /** An equal item that is there already stays the one that it is. */
  add(item: Item): void {
    const at = this.#find(item);
    const run = this.#runs[at.run];
    if (run === undefined) this.#runs.push([item]);
    else if (at.isThere) return;
    else run.splice(at.index, 0, item);
    this.#size += 1;
    if (run === undefined || run.length > RUN_MAX) this.#cut(at.run);
    else this.#count(at.run, 1);
  }

  /** Absent is success. */
  remove(key: Key): void {
    const at = this.#find(key);
    const run = this.#runs[at.run];
    if (run === undefined || !at.isThere) return;
    run.splice(at.index, 1);
    this.#size -= 1;
    if (run.length > 0) this.#count(at.run, -1);
    else {
      this.#runs.splice(at.run, 1);
      this.#sumUp();
    }
  }

  /** How many stand before this key, whether or not it is taken. */
  before(key: Key): number {
    const { index, run } = this.#find(key);
    let sum = index;
    for (let n = run; n > 0; n -= n & -n) sum += this.#sums[n] ?? 0;
    return sum;
  }

  /** All items, the first first. To be walked at once: no change may come between. */
  *forwards(): Generator<Item> {
    for (const run of this.#runs) yield* run;
  }

  /** All items before this key, or all there are, the last first. To be walked at once. */
  *backwards(key: Key | null): Generator<Item> {
    const from = key === null ? { run: this.#runs.length, index: 0 } : this.#find(key);
    for (let run = from.run; run >= 0; run -= 1) {
      const items = this.#runs[run] ?? [];
      for (let index = (run === from.run ? from.index : items.length) - 1; index >= 0; index -= 1) {
        const found = items[index];
        if (found !== undefined) yield found;
      }
    }
  }

  /** The run and the index at which the key stands, or would stand. The last run takes what comes after all. */
  #find(key: Key): { readonly run: number; readonly index: number; readonly isThere: boolean } {
    const runs = this.#runs;
    const after = firstIndex(runs.length, (n) => this.#isAtLeast(runs[n]?.at(-1), key));
    const run = Math.min(after, Math.max(0, runs.length - 1));
    const items = runs[run] ?? [];
    const index = firstIndex(items.length, (n) => this.#isAtLeast(items[n], key));
    const found = items[index];
    return { run, index, isThere: found !== undefined && this.#compare(found, key) === 0 };
  }

  #isAtLeast(item: Item | undefined, key: Key): boolean {
    return item === undefined || this.#compare(item, key) >= 0;
  }

  /** Halves a run that has become too long; sums are made anew, once in so many additions. */
  #cut(run: number): void {
    const items = this.#runs[run] ?? [];
    if (items.length > RUN_MAX) this.#runs.splice(run + 1, 0, items.splice(cutAt(run, this.#runs.length)));
    this.#sumUp();
  }

  #count(run: number, change: number): void {
    for (let n = run + 1; n < this.#sums.length; n += n & -n) this.#sums[n] = (this.#sums[n] ?? 0) + change;
  }

  #sumUp(): void {
    const sums = [0, ...this.#runs.map(({ length }) => length)];
    for (let n = 1; n < sums.length; n += 1) {
      const parent = n + (n & -n);
      if (parent < sums.length) sums[parent] = (sums[parent] ?? 0) + (sums[n] ?? 0);
    }
    this.#sums = sums;
  }
}

/** A run at the end grows at its end only, so it is left full. */
const cutAt = (run: number, runs: number): number => (run === runs - 1 ? RUN_MAX : RUN_MAX / 2);

/** The first index below `length` at which the condition holds, given that it holds from there on; else `length`. */
function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
