import type { JobId } from '@berth/domain';

/** Where a job stands: by the instant at which it was queued, which is the order of its ticket; equals by id. */
export interface QueuePlace {
  readonly queuedAtMs: number;
  readonly jobId: JobId;
}

/** Places in one run; a longer one is cut in two. A move within a run this long costs less than a step of a tree. */
const RUN_MAX = 1_024;

/**
 * Waiting jobs in start order, for "how many are before this one?" in O(log n): sorted runs of places, and a Fenwick
 * tree over their lengths. A tree of single jobs has the same bound and takes ten times the memory.
 */
export class QueueOrder {
  readonly #runs: QueuePlace[][] = [];
  /** Sums of run lengths; element `n` covers the `n & -n` runs that end with run `n - 1`. */
  #sums: number[] = [0];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Who starts first; undefined when nobody waits. */
  get first(): QueuePlace | undefined {
    return this.#runs[0]?.[0];
  }

  /** A place that is there already stays the one that it is. */
  add(place: QueuePlace): void {
    const at = this.#find(place);
    const run = this.#runs[at.run];
    if (run === undefined) this.#runs.push([place]);
    else if (at.isThere) return;
    else run.splice(at.index, 0, place);
    this.#size += 1;
    if (run === undefined || run.length > RUN_MAX) this.#cut(at.run);
    else this.#count(at.run, 1);
  }

  /** Absent is success. */
  remove(place: QueuePlace): void {
    const at = this.#find(place);
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

  /** How many stand before this place, whether or not it is taken. */
  before(place: QueuePlace): number {
    const { index, run } = this.#find(place);
    let sum = index;
    for (let n = run; n > 0; n -= n & -n) sum += this.#sums[n] ?? 0;
    return sum;
  }

  /** All places before this one, or all there are, the last first. To be walked at once: no change may come between. */
  *backwards(place: QueuePlace | null): Generator<QueuePlace> {
    const from = place === null ? { run: this.#runs.length, index: 0 } : this.#find(place);
    for (let run = from.run; run >= 0; run -= 1) {
      const places = this.#runs[run] ?? [];
      for (let index = (run === from.run ? from.index : places.length) - 1; index >= 0; index -= 1) {
        const found = places[index];
        if (found !== undefined) yield found;
      }
    }
  }

  /** The run and the index at which the place stands, or would stand. The last run takes what comes after all. */
  #find(place: QueuePlace): { readonly run: number; readonly index: number; readonly isThere: boolean } {
    const runs = this.#runs;
    const after = firstIndex(runs.length, (n) => compare(last(runs[n]), place) >= 0);
    const run = Math.min(after, Math.max(0, runs.length - 1));
    const places = runs[run] ?? [];
    const index = firstIndex(places.length, (n) => compare(places[n], place) >= 0);
    return { run, index, isThere: compare(places[index], place) === 0 };
  }

  /** Halves a run that has become too long; sums are made anew, once in so many additions. */
  #cut(run: number): void {
    const places = this.#runs[run] ?? [];
    if (places.length > RUN_MAX) this.#runs.splice(run + 1, 0, places.splice(cutAt(run, this.#runs.length)));
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

const last = (run: readonly QueuePlace[] | undefined): QueuePlace | undefined => run?.[run.length - 1];

/** Nobody comes after everybody. */
function compare(a: QueuePlace | undefined, b: QueuePlace): number {
  if (a === undefined) return 1;
  return a.queuedAtMs - b.queuedAtMs || (a.jobId < b.jobId ? -1 : Number(a.jobId > b.jobId));
}

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
