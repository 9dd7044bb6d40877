import type { EndpointId, JobOperation } from '@berth/domain';
import { RateCounter } from './rate-counter.js';

/** Some 50 MB. Beyond it the counter that was made first is forgotten: its requests are admitted once more. */
const COUNTERS_MAX = 50_000;

/** One counter for each endpoint and operation that is in use. */
export class RateCounters {
  readonly #counters = new Map<string, RateCounter>();
  readonly #max: number;

  constructor(max = COUNTERS_MAX) {
    this.#max = max;
  }

  get size(): number {
    return this.#counters.size;
  }

  of(endpointId: EndpointId, operation: JobOperation): RateCounter {
    const key = `${operation} ${endpointId}`;
    const known = this.#counters.get(key);
    if (known !== undefined) return known;
    const counter = new RateCounter(endpointId, operation);
    this.#counters.set(key, counter);
    if (this.#counters.size > this.#max) this.#forgetFirst();
    return counter;
  }

  all(): Iterable<RateCounter> {
    return this.#counters.values();
  }

  forgetIdle(nowMs: number): void {
    for (const [key, counter] of this.#counters) {
      if (counter.isIdle(nowMs)) this.#counters.delete(key);
    }
  }

  #forgetFirst(): void {
    const [first] = this.#counters.keys();
    if (first !== undefined) this.#counters.delete(first);
  }
}
