import type { Clock } from '@berth/lifecycle';
import type { BridgeMetrics } from './metrics.js';
import type { WorkerReply } from './worker-reply.js';

/** An SDK that is refused asks again at once, so a refusal takes its time. */
const HOLD_MS = 5_000;
const HELD_MAX = 256;

/** Callers who may not be served: each is answered late, and only so many are kept waiting. */
export class BadCallers {
  readonly #clock: Clock;
  readonly #metrics: BridgeMetrics;
  #held = 0;

  constructor(clock: Clock, metrics: BridgeMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  async refuse(reply: WorkerReply, status: 401 | 404): Promise<void> {
    this.#metrics.refused.inc({ reason: status === 401 ? 'token' : 'route' });
    if (this.#held >= HELD_MAX) {
      await reply.send(429);
      return;
    }
    this.#held += 1;
    try {
      await this.#clock.sleep(HOLD_MS, reply.gone);
      await reply.send(status);
    } finally {
      this.#held -= 1;
    }
  }
}
