import { HISTORY_READ_SUBJECT, type HistoryReadMessage } from '@berth/contracts';
import type { Clock } from '@berth/lifecycle';
import { LOG_SHARDS, ShardLogSource, logShard, type Broker } from '@berth/messaging';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { JobHistoryLoops } from './job-history-loops.js';
import { JobHistoryProjector } from './job-history-projector.js';
import { jobHistoryMetrics } from './metrics.js';
import type { Database } from '../persistence/index.js';
import { JobHistoryPartitions } from './job-history-partitions.js';
import { JobHistoryStore } from './job-history.store.js';
import type { LeaderLease } from '../leadership/index.js';

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
  const { broker, clock, database, lease, logger, metrics } = parts;
  const history = new JobHistoryStore(database, logShard);
  const options = {
    source: new ShardLogSource(broker),
    shards: LOG_SHARDS,
    history,
    tellRead: (message: HistoryReadMessage) => {
      broker.connection.publish(HISTORY_READ_SUBJECT, JSON.stringify(message));
    },
    keepPlaces: placesOf(parts),
    clock,
    logger,
    metrics: jobHistoryMetrics(metrics),
  };
  return new JobHistoryLoops({
    lease,
    history,
    newProjector: (term) => new JobHistoryProjector({ ...options, term }),
    clock,
    logger,
    metrics,
  });
}

function placesOf({ database, logger, retentionDays }: JobHistoryParts): () => Promise<void> {
  const partitions = new JobHistoryPartitions(database);
  return async () => {
    const { dropped, made } = await partitions.keep({ past: retentionDays, ahead: DAYS_AHEAD });
    if (made.length > 0) logger.info(`job history: ${made.length} days made`);
    for (const name of dropped) logger.info(`job history: ${name} dropped, it is older than ${retentionDays} days`);
  };
}
