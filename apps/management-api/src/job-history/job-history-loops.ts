import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { LeaderLease, LeaderTerm } from '../leadership/index.js';
import type { JobHistoryProjector } from './job-history-projector.js';
import { jobHistoryMetrics, tellLag, type JobHistoryMetrics } from './metrics.js';
import type { JobHistoryStore } from './job-history.store.js';

export interface JobHistoryLoopsOptions {
  readonly lease: Pick<LeaderLease, 'isLeader' | 'currentTerm'>;
  readonly history: JobHistoryStore;
  /** Made anew for each term: what the last one remembered may be out of date. */
  readonly newProjector: (term: LeaderTerm) => JobHistoryProjector;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** Each look asks for every shard; the owner of a job tells of its end as long as its result is kept. */
const PASS_INTERVAL_MS = 1_000;
const RETRY_MS = 1_000;
const CLEARING_INTERVAL_MS = 30_000;
const CLEARING_BATCH = 500;
const MS_PER_SECOND = 1_000;

/** The loops behind the job history: one projects while this process leads, one clears away rows without an owner. */
export class JobHistoryLoops {
  readonly #options: JobHistoryLoopsOptions;
  readonly #metrics: JobHistoryMetrics;
  readonly #projection: ControlLoop;
  readonly #clearing: ControlLoop;
  #current: { readonly term: LeaderTerm; readonly sinceMs: number; readonly projector: JobHistoryProjector } | null =
    null;
  #hasFailed = false;

  constructor(options: JobHistoryLoopsOptions) {
    this.#options = options;
    const { clock, logger, metrics } = options;
    this.#metrics = jobHistoryMetrics(metrics);
    tellLag(metrics, () => this.#lagSeconds());
    const onError = (name: string, error: unknown): void => {
      logger.warn(`control loop ${name} failed; it runs again`, { error });
    };
    this.#projection = new ControlLoop({
      name: 'job-history.projection',
      intervalMs: PASS_INTERVAL_MS,
      clock,
      onError,
      run: (signal) => this.#project(signal),
    });
    this.#clearing = new ControlLoop({
      name: 'job-history.clearing',
      intervalMs: CLEARING_INTERVAL_MS,
      clock,
      onError,
      run: (signal) => this.#clear(signal),
    });
  }

  start(): void {
    this.#projection.start();
    this.#clearing.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#projection.stop(), this.#clearing.stop()]);
  }

  /** An outage is told once, and once when it is over: the loop comes again and again. */
  async #project(signal: AbortSignal): Promise<void> {
    const { clock, lease, logger } = this.#options;
    if (!lease.isLeader()) return;
    try {
      await this.#projector().run(signal);
      if (this.#hasFailed) logger.info('the job history is being written again');
      this.#hasFailed = false;
    } catch (error) {
      this.#metrics.failures.inc();
      if (!this.#hasFailed) logger.warn('the job history cannot be written; it is caught up with later', { error });
      this.#hasFailed = true;
      await clock.sleep(RETRY_MS, signal);
    }
  }

  #projector(): JobHistoryProjector {
    const { clock, lease, newProjector } = this.#options;
    const term = lease.currentTerm();
    if (this.#current?.term.number !== term.number) {
      this.#current = { term, sinceMs: clock.nowMs(), projector: newProjector(term) };
    }
    return this.#current.projector;
  }

  async #clear(signal: AbortSignal): Promise<void> {
    const { history, lease } = this.#options;
    for (let removed = CLEARING_BATCH; removed === CLEARING_BATCH && !signal.aborted;) {
      if (!lease.isLeader()) return;
      removed = await history.removeOrphans(CLEARING_BATCH);
    }
  }

  /** Where nothing was ever complete, the term counts. */
  #lagSeconds(): number {
    const { clock, lease } = this.#options;
    if (this.#current === null || !lease.isLeader()) return 0;
    const { projector, sinceMs } = this.#current;
    return Math.max(0, clock.nowMs() - (projector.completeUntilMs ?? sinceMs)) / MS_PER_SECOND;
  }
}
