import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { LeaderLease } from '../leadership/index.js';
import { usageMetrics } from './metrics.js';
import { UsageCounts } from './usage-counts.js';
import type { UsageStore } from './usage.store.js';

export interface UsageLoopOptions {
  readonly lease: Pick<LeaderLease, 'isLeader'>;
  readonly usage: Pick<UsageStore, 'align' | 'count' | 'prune'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** How old what is told of usage may be, as a rule. */
const INTERVAL_MS = 15_000;
/** Of one statement: below the time that one may take, with many hours to be counted after an outage. */
const RUNS_AT_ONCE = 500;
/** Thirteen months: what is older goes. */
const KEPT_MS = 400 * 24 * 3_600_000;
const PRUNED_AT_ONCE = 1_000;

/** Counts what workers use while this process leads, and clears away what is old. Run twice at once it counts once. */
export class UsageLoop {
  readonly #options: UsageLoopOptions;
  readonly #counts: UsageCounts;
  readonly #loop: ControlLoop;

  constructor(options: UsageLoopOptions) {
    this.#options = options;
    const { clock, logger } = options;
    const metrics = usageMetrics(options.metrics);
    this.#counts = new UsageCounts(metrics, clock);
    this.#loop = new ControlLoop({
      name: 'usage',
      intervalMs: INTERVAL_MS,
      clock,
      run: (signal) => this.#run(signal),
      onError: (name, error) => {
        metrics.failures.inc();
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

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, lease, usage } = this.#options;
    const nowMs = clock.nowMs();
    this.#counts.begin();
    const mayGoOn = (): boolean => lease.isLeader() && !signal.aborted;
    if (mayGoOn()) await usage.align();
    for (let isMore = true; isMore && mayGoOn();) {
      const counted = await usage.count(nowMs, RUNS_AT_ONCE);
      for (const each of counted) this.#counts.note(each);
      isMore = counted.length > 0;
    }
    for (let removed = PRUNED_AT_ONCE; removed === PRUNED_AT_ONCE && mayGoOn();) {
      removed = await usage.prune(nowMs - KEPT_MS, PRUNED_AT_ONCE);
    }
  }
}
