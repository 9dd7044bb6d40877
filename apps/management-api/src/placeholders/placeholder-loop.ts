import { planPlaceholders, type PlaceholderBounds, type Shortage } from '@berth/domain';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { requireTerm, type LeaderLease } from '../leadership/index.js';
import type { ClusterPlaceholders, SeenPlaceholder } from './cluster-placeholders.js';
import { placeholderMetrics, tellPlaceholders, type PlaceholderFigures, type PlaceholderMetrics } from './metrics.js';

export interface PlaceholderLoopOptions {
  readonly lease: Pick<LeaderLease, 'isLeader' | 'currentTerm'>;
  /** Of the last pass of the leader that this process is; null: it is none, or has not looked yet. */
  readonly shortages: () => readonly Shortage[] | null;
  readonly cluster: Pick<ClusterPlaceholders, keyof ClusterPlaceholders>;
  readonly bounds: PlaceholderBounds;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** Below what autoscalers take between two looks. */
const INTERVAL_MS = 5_000;

/** Makes and removes placeholders while this process leads. Level-triggered: each pass starts from what there is. */
export class PlaceholderLoop {
  readonly #options: PlaceholderLoopOptions;
  readonly #metrics: PlaceholderMetrics;
  readonly #loop: ControlLoop;
  #figures: PlaceholderFigures | null = null;

  constructor(options: PlaceholderLoopOptions) {
    this.#options = options;
    const { clock, lease, logger } = options;
    this.#metrics = placeholderMetrics(options.metrics);
    tellPlaceholders(options.metrics, () => (lease.isLeader() ? this.#figures : null));
    this.#loop = new ControlLoop({
      name: 'placeholders',
      intervalMs: INTERVAL_MS,
      clock,
      run: (signal) => this.#pass(signal),
      onError: (name, error) => {
        this.#metrics.failures.inc();
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

  async #pass(signal: AbortSignal): Promise<void> {
    const { bounds, cluster, lease, shortages } = this.#options;
    const short = shortages();
    if (short === null || !lease.isLeader()) return;
    const term = lease.currentTerm();
    const seen = await cluster.list();
    this.#figures = figuresOf(seen);
    const plan = planPlaceholders(short, seen, bounds);
    const change = async (what: 'created' | 'removed', act: () => Promise<void>): Promise<void> => {
      if (signal.aborted) return;
      requireTerm(term);
      await act();
      this.#metrics.changes.inc({ change: what });
    };
    for (const name of plan.remove) await change('removed', () => cluster.remove(name));
    for (const wish of plan.create) await change('created', () => cluster.create(wish));
    this.#say(plan.create.length, plan.remove.length);
  }

  #say(created: number, removed: number): void {
    if (created > 0 || removed > 0) this.#options.logger.info('placeholders changed', { created, removed });
  }
}

function figuresOf(seen: readonly SeenPlaceholder[]): PlaceholderFigures {
  const standing = seen.filter(({ isOver }) => !isOver);
  const scheduled = standing.filter(({ isScheduled }) => isScheduled).length;
  return { waiting: standing.length - scheduled, scheduled };
}
