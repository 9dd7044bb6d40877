import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';

const SAY_AGAIN_MS = 30_000;
const MS_PER_SECOND = 1_000;

/** The log lines while a host cannot join yet: one sentence when the wait begins, and another every 30 s. */
export class JoinWait {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #level: 'warn' | 'debug';
  #sinceMs: number | null = null;
  #saidAtMs = 0;

  constructor(clock: Clock, logger: Logger, level: 'warn' | 'debug' = 'warn') {
    this.#clock = clock;
    this.#logger = logger;
    this.#level = level;
  }

  /** Another try has failed. */
  note(why: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#sinceMs !== null && nowMs - this.#saidAtMs < SAY_AGAIN_MS) return;
    this.#saidAtMs = nowMs;
    if (this.#sinceMs === null) {
      this.#sinceMs = nowMs;
      this.#logger[this.#level]('waiting to join', { why });
    } else {
      const waitedSeconds = Math.round((nowMs - this.#sinceMs) / MS_PER_SECOND);
      this.#logger[this.#level]('still waiting to join', { waitedSeconds, why });
    }
  }
}
