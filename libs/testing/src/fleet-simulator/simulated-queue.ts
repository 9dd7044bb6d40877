import { NO_DEMAND, type Demand } from '@berth/domain';
import type { SeededRandom } from '../clock/seeded-random.js';
import type { Nature } from './fleet-world.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Jobs of one burst come within this time. */
const BURST_MS = 120_000;

/** Jobs of one endpoint in the order of their arrival, all drawn before: what others do changes none of them. */
export class SimulatedQueue {
  readonly #arrivals: readonly number[];
  readonly #executions: readonly number[];
  /** Ends within the last minute, oldest first. */
  #ends: { readonly atMs: number; readonly executionMs: number }[] = [];
  #arrived = 0;
  #started = 0;

  constructor(nature: Nature, untilMs: number, random: SeededRandom) {
    this.#arrivals = drawArrivals(nature, untilMs, random);
    this.#executions = this.#arrivals.map(() => Math.round(nature.meanExecutionMs * (0.5 + random.fraction())));
  }

  /** Jobs that came until then wait. */
  advance(nowMs: number): void {
    while ((this.#arrivals[this.#arrived] ?? Infinity) <= nowMs) this.#arrived += 1;
    if (this.#ends.length > 0) this.#ends = this.#ends.filter(({ atMs }) => atMs > nowMs - MINUTE_MS);
  }

  /** Arrival of the oldest job that has not started, whether it has come yet or not; null at the end. */
  get nextArrivalMs(): number | null {
    return this.#arrivals[this.#started] ?? null;
  }

  get waiting(): number {
    return this.#arrived - this.#started;
  }

  /** The oldest job starts, and ends after the time that is returned. */
  start(atMs: number): number {
    const executionMs = this.#executions[this.#started] ?? 0;
    this.#started += 1;
    this.#arrived = Math.max(this.#arrived, this.#started);
    this.#ends.push({ atMs: atMs + executionMs, executionMs });
    return executionMs;
  }

  /** As the owner of the queue would tell it. */
  demand(nowMs: number): Demand {
    const ended = this.#ends.filter(({ atMs }) => atMs <= nowMs);
    return {
      ...NO_DEMAND,
      queuedNormal: this.waiting,
      running: this.#ends.length - ended.length,
      oldestQueuedAtMs: this.waiting > 0 ? this.nextArrivalMs : null,
      endedLastMinute: ended.length,
      executionMsLastMinute: ended.reduce((sum, { executionMs }) => sum + executionMs, 0),
    };
  }
}

function drawArrivals(
  { burstsPerHour, jobsPerBurst }: Nature,
  untilMs: number,
  random: SeededRandom,
): readonly number[] {
  const arrivals: number[] = [];
  let atMs = 0;
  for (;;) {
    atMs += Math.round((-Math.log(1 - random.fraction()) * HOUR_MS) / burstsPerHour);
    if (atMs >= untilMs) break;
    const jobs = random.integer(1, 2 * jobsPerBurst);
    for (let job = 0; job < jobs; job += 1) arrivals.push(atMs + random.integer(0, BURST_MS));
  }
  return arrivals.filter((each) => each < untilMs).toSorted((a, b) => a - b);
}
