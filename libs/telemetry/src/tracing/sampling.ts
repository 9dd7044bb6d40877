import { TraceFlags, type SpanContext } from '@opentelemetry/api';
import type { Clock, Random } from '@berth/lifecycle';

/** Anybody who sends requests may say that they be recorded: each process grants so many in a second. */
const CALLERS_WISHES_PER_SECOND = 100;
const SECOND_MS = 1_000;
const PERMILLE = 1_000;

/**
 * Which traces are recorded: of those that begin here, a share; of callers' those that their callers record, within a
 * rate. A caller's `no` holds.
 */
export class Sampling {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #random: Pick<Random, 'fraction'>;
  readonly #permille: number;
  #second = -1;
  #granted = 0;

  constructor(options: {
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly random: Pick<Random, 'fraction'>;
    readonly permille: number;
  }) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#permille = options.permille;
  }

  /** @param parent the step of the caller; null: the trace begins here */
  isRecorded(parent: SpanContext | null): boolean {
    if (parent === null) return this.#random.fraction() * PERMILLE < this.#permille;
    return (parent.traceFlags & TraceFlags.SAMPLED) !== 0 && this.#grant();
  }

  #grant(): boolean {
    const second = Math.floor(this.#clock.monotonicMs() / SECOND_MS);
    if (second !== this.#second) {
      this.#second = second;
      this.#granted = 0;
    }
    this.#granted += 1;
    return this.#granted <= CALLERS_WISHES_PER_SECOND;
  }
}
