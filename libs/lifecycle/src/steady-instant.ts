import type { Clock } from './clock.js';

/** The two clocks are read one after the other, and the process may stand still in between. */
const READING_MS = 250;

/**
 * The instant at which this was made, told as Unix time. When somebody sets the machine's clock it moves along, so it
 * stays as long ago as it was; otherwise it is told the same each time, to the millisecond.
 */
export class SteadyInstant {
  readonly #clock: Clock;
  readonly #atMs: number;
  #unixMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#atMs = clock.monotonicMs();
    this.#unixMs = clock.nowMs();
  }

  /** Unix milliseconds, by the clock as it is now. */
  get unixMs(): number {
    const agoMs = this.#clock.monotonicMs() - this.#atMs;
    const unixMs = Math.round(this.#clock.nowMs() - agoMs);
    if (Math.abs(unixMs - this.#unixMs) > READING_MS) this.#unixMs = unixMs;
    return this.#unixMs;
  }
}
