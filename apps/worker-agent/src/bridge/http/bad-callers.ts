import type { Clock } from '@berth/lifecycle';
import type { WorkerExchange } from './http-listener.js';
import type { BridgeMetrics } from '../metrics.js';

/** An SDK that is refused asks again at once, so a refusal takes its time. */
const HOLD_MS = 5_000;
const HELD_MAX = 256;
/** Of one address. */
const HELD_PER_ADDRESS_MAX = 16;

/** Callers who may not be served: each is answered late, and only so many of each address are kept waiting. */
export class BadCallers {
  readonly #clock: Clock;
  readonly #metrics: BridgeMetrics;
  /** How many are kept waiting, by where they came from. */
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(clock: Clock, metrics: BridgeMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  async refuse({ remoteAddress, reply }: WorkerExchange, status: 401 | 404): Promise<void> {
    this.#metrics.refused.inc({ reason: status === 401 ? 'token' : 'route' });
    const heldBy = this.#heldBy.get(remoteAddress) ?? 0;
    if (this.#held >= HELD_MAX || heldBy >= HELD_PER_ADDRESS_MAX) {
      await reply.hangUpWith(429);
      return;
    }
    this.#held += 1;
    this.#heldBy.set(remoteAddress, heldBy + 1);
    try {
      await this.#clock.sleep(HOLD_MS, reply.gone);
      await reply.send(status);
    } finally {
      this.#release(remoteAddress);
    }
  }

  #release(remoteAddress: string): void {
    this.#held -= 1;
    const left = (this.#heldBy.get(remoteAddress) ?? 1) - 1;
    if (left === 0) this.#heldBy.delete(remoteAddress);
    else this.#heldBy.set(remoteAddress, left);
  }
}
