import { ClusterError } from '@berth/cluster-api';
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
    const done = { created: 0, removed: 0 };
    const refusals: ClusterError[] = [];
    const change = async (what: keyof typeof done, act: () => Promise<void>): Promise<void> => {
      if (signal.aborted) return;
      requireTerm(term);
      try {
        await act();
        done[what] += 1;
        this.#metrics.changes.inc({ change: what });
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refusals.push(error);
      }
    };
    for (const name of plan.remove) await change('removed', () => cluster.remove(name));
    for (const wish of plan.create) await change('created', () => cluster.create(wish));
    this.#say(done, refusals);
  }

  #say(done: Readonly<Record<'created' | 'removed', number>>, refusals: readonly ClusterError[]): void {
    const { logger } = this.#options;
    if (done.created > 0 || done.removed > 0) logger.info('placeholders changed', done);
    const [error] = refusals;
    if (error === undefined) return;
    this.#metrics.failures.inc();
    logger.warn('the cluster refuses placeholders; the next pass asks again', { refused: refusals.length, error });
  }
}

/** No login, or too many questions: the next placeholder would hear the same. */
const SAID_TO_ALL: readonly number[] = [401, 429];

/** It concerns this placeholder, as a quota or a policy has it; a cluster that is away concerns them all. */
const isRefusal = (error: unknown): error is ClusterError =>
  error instanceof ClusterError && error.status >= 400 && error.status < 500 && !SAID_TO_ALL.includes(error.status);

function figuresOf(seen: readonly SeenPlaceholder[]): PlaceholderFigures {
  const standing = seen.filter(({ isOver }) => !isOver);
  const scheduled = standing.filter(({ isScheduled }) => isScheduled).length;
  return { waiting: standing.length - scheduled, scheduled };
}
