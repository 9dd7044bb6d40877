import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { LeaderLease } from '../leadership/index.js';
import type { ScalingHistoryStore } from './scaling-history.store.js';

export interface ScalingHistoryLoopOptions {
  readonly lease: Pick<LeaderLease, 'isLeader'>;
  readonly history: Pick<ScalingHistoryStore, 'prune'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is older goes. */
const KEPT_MS = 24 * 3_600_000;
const INTERVAL_MS = 60_000;
const SLICE = 1_000;

/** Clears away old decisions while this process leads, a slice at a time. */
export class ScalingHistoryLoop {
  readonly #options: ScalingHistoryLoopOptions;
  readonly #loop: ControlLoop;

  constructor(options: ScalingHistoryLoopOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#loop = new ControlLoop({
      name: 'scaling-history',
      intervalMs: INTERVAL_MS,
      clock,
      run: (signal) => this.#prune(signal),
      onError: (name, error) => {
        logger.warn(`control loop ${name} failed; it runs again`, { error });
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #prune(signal: AbortSignal): Promise<void> {
    const { clock, history, lease } = this.#options;
    for (let removed = SLICE; removed === SLICE && !signal.aborted;) {
      if (!lease.isLeader()) return;
      removed = await history.prune(clock.nowMs() - KEPT_MS, SLICE);
    }
  }
}
