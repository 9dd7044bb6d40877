import type { Clock } from '@berth/lifecycle';
import type { Broker } from '@berth/messaging';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { JobHistoryLoops } from './job-history/job-history-loops.js';
import { JobHistoryProjector } from './job-history/job-history-projector.js';
import { jobHistoryMetrics } from './job-history/metrics.js';
import { NatsRecordSource } from './job-history/nats-record-source.js';
import type { Database } from './persistence/database.js';
import { JobHistoryPartitions } from './persistence/job-history-partitions.js';
import { JobHistoryStore } from './persistence/stores/job-history.store.js';
import type { LeaderLease } from './persistence/stores/leader-lease.store.js';

export interface JobHistoryParts {
  readonly broker: Broker;
  readonly database: Database;
  readonly lease: LeaderLease;
  /** Days that rows are kept, from the submission of their jobs. */
  readonly retentionDays: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** A check that fails for a whole day, or a router whose clock is ahead, finds its day made all the same. */
const DAYS_AHEAD = 3;

/** The loops behind the job history, not started yet. */
export function composeJobHistory(parts: JobHistoryParts): JobHistoryLoops {
  const { broker, clock, database, lease, logger, metrics, retentionDays } = parts;
  const history = new JobHistoryStore(database);
  const partitions = new JobHistoryPartitions(database);
  const source = new NatsRecordSource(broker, clock);
  const keepPlaces = async (): Promise<void> => {
    const { dropped, made } = await partitions.keep({ past: retentionDays, ahead: DAYS_AHEAD });
    if (made.length > 0) logger.info(`job history: ${made.length} days made`);
    for (const name of dropped) logger.info(`job history: ${name} dropped, it is older than ${retentionDays} days`);
  };
  return new JobHistoryLoops({
    lease,
    history,
    newProjector: (term) =>
      new JobHistoryProjector({
        source,
        history,
        keepPlaces,
        clock,
        term,
        logger,
        metrics: jobHistoryMetrics(metrics),
      }),
    clock,
    logger,
    metrics,
  });
}
