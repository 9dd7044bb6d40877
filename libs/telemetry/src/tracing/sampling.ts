import { TraceFlags, type SpanContext } from '@opentelemetry/api';
import type { Clock, Random } from '@berth/lifecycle';

/** Anybody who sends requests may say that they be recorded: each process grants so many in a second. */
const CALLERS_WISHES_PER_SECOND = 100;
/** The same of those who have shown no good key. They take nothing from the others. */
const STRANGERS_WISHES_PER_SECOND = 10;
const SECOND_MS = 1_000;
const PERMILLE = 1_000;

/**
 * Which traces are recorded: of those that begin here, a share; of callers' those that their callers record, within a
 * rate. A caller's `no` holds.
 */
export class Sampling {
  readonly #random: Pick<Random, 'fraction'>;
  readonly #permille: number;
  readonly #ofCallers: Wishes;
  readonly #ofStrangers: Wishes;

  constructor(options: {
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly random: Pick<Random, 'fraction'>;
    readonly permille: number;
  }) {
    this.#ofCallers = new Wishes(options.clock, CALLERS_WISHES_PER_SECOND);
    this.#ofStrangers = new Wishes(options.clock, STRANGERS_WISHES_PER_SECOND);
    this.#random = options.random;
    this.#permille = options.permille;
  }

  /**
   * @param parent the step of the caller; null: the trace begins here
   * @param hasKey whether the caller has shown a good key
   */
  isRecorded(parent: SpanContext | null, hasKey: boolean): boolean {
    if (parent === null) return this.#random.fraction() * PERMILLE < this.#permille;
    if ((parent.traceFlags & TraceFlags.SAMPLED) === 0) return false;
    return (hasKey ? this.#ofCallers : this.#ofStrangers).grant();
  }
}

/** So many in a second. */
class Wishes {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #perSecond: number;
  #second = -1;
  #granted = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  grant(): boolean {
    const second = Math.floor(this.#clock.monotonicMs() / SECOND_MS);
    if (second !== this.#second) {
      this.#second = second;
      this.#granted = 0;
    }
    this.#granted += 1;
    return this.#granted <= this.#perSecond;
  }
}
