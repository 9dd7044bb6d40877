import { RATE_WINDOW_MS } from './job-operations.js';

/** Requests within one of these are counted as of one instant. */
const BUCKET_MS = 100;

/** One more than fit into the window, so that the whole of it is covered wherever it begins. */
const BUCKETS = RATE_WINDOW_MS / BUCKET_MS + 1;

/**
 * How much was counted within the last 10 s, in constant memory. Never less than that, so a limit that is kept here is
 * kept in every 10 s; and nothing that is older than 10.1 s. Time is an argument and must not run backwards.
 */
export class SlidingCount {
  readonly #buckets = new Uint32Array(BUCKETS);
  /** Ordinal of the newest bucket since time began. */
  #newest = 0;
  #sum = 0;

  add(count: number, nowMs: number): void {
    this.#advance(nowMs);
    const place = this.#newest % BUCKETS;
    this.#buckets[place] = (this.#buckets[place] ?? 0) + count;
    this.#sum += count;
  }

  sum(nowMs: number): number {
    this.#advance(nowMs);
    return this.#sum;
  }

  /** Milliseconds until the sum has fallen to `limit` or below, if nothing is added; 0 where it has already. */
  msUntil(limit: number, nowMs: number): number {
    let left = this.sum(nowMs);
    if (left <= limit) return 0;
    let bucket = this.#newest - BUCKETS;
    while (left > limit && bucket < this.#newest) {
      bucket += 1;
      left -= this.#buckets[bucket % BUCKETS] ?? 0;
    }
    return (bucket + BUCKETS) * BUCKET_MS - nowMs;
  }

  #advance(nowMs: number): void {
    const newest = Math.floor(nowMs / BUCKET_MS);
    if (newest <= this.#newest) return;
    const first = Math.max(this.#newest + 1, newest - BUCKETS + 1);
    for (let bucket = first; this.#sum > 0 && bucket <= newest; bucket += 1) {
      const place = bucket % BUCKETS;
      this.#sum -= this.#buckets[place] ?? 0;
      this.#buckets[place] = 0;
    }
    this.#newest = newest;
  }
}
