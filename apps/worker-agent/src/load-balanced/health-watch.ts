import {
  afterCheck,
  afterConnectionError,
  afterRest,
  newHealth,
  nextCheckInMs,
  type SessionHealth,
  type WorkerHealth,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { checkHealth, type HealthTarget } from './check-health.js';
import type { BalancedMetrics } from './metrics.js';

export interface HealthWatchOptions {
  readonly clock: Clock;
  readonly metrics: BalancedMetrics;
  /** Its checks have been good before. */
  readonly wasReady: boolean;
  /** What the checks show has changed. */
  readonly onNews: () => void;
}

/** Asks one container whether it is well, again and again, and keeps what that shows. */
export class HealthWatch {
  readonly #options: HealthWatchOptions;
  #health: WorkerHealth;
  #asking: AbortController | null = null;

  constructor(options: HealthWatchOptions) {
    this.#options = options;
    this.#health = { ...newHealth(options.clock.monotonicMs()), hasBeenGood: options.wasReady };
  }

  get health(): WorkerHealth {
    return this.#health;
  }

  /** As the plan sees it, on the clock that it reads. */
  get session(): SessionHealth {
    const { clock } = this.#options;
    const { sinceMs, standing, words } = this.#health;
    return { standing, words, sinceMs: Math.round(clock.nowMs() - (clock.monotonicMs() - sinceMs)) };
  }

  get isWatching(): boolean {
    return this.#asking !== null;
  }

  /** Asks at once, and goes on until `rest`. */
  watch(target: HealthTarget): void {
    this.rest();
    const asking = new AbortController();
    this.#asking = asking;
    this.#health = afterRest(this.#health, this.#options.clock.monotonicMs());
    void this.#ask(target, asking.signal);
  }

  rest(): void {
    this.#asking?.abort();
    this.#asking = null;
  }

  noteConnectionError(words: string): void {
    this.#become(afterConnectionError(this.#health, words, this.#options.clock.monotonicMs()));
  }

  async #ask(target: HealthTarget, signal: AbortSignal): Promise<void> {
    const { clock, metrics } = this.#options;
    while (!signal.aborted) {
      const answer = await checkHealth(target, { clock, signal });
      if (signal.aborted) return;
      metrics.checks.inc({ outcome: answer.kind });
      this.#become(afterCheck(this.#health, answer, clock.monotonicMs()));
      await clock.sleep(nextCheckInMs(this.#health), signal);
    }
  }

  #become(health: WorkerHealth): void {
    const { standing, words } = this.#health;
    this.#health = health;
    if (standing !== health.standing) this.#options.metrics.healthChanges.inc({ standing: health.standing });
    if (standing !== health.standing || (words !== health.words && health.standing !== 'in')) this.#options.onNews();
  }
}
