import { BodyBudget, StreamedAnswers } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import type { ApiKeysStore } from '../api-keys/index.js';
import type { EndpointsService } from '../endpoints/index.js';
import type { Database } from '../persistence/index.js';
import { AgentLogs } from './agent-logs.js';
import { LogPlacesStore } from './log-places.store.js';
import { workerLogMetrics } from './metrics.js';
import { WorkerLogsService } from './worker-logs-service.js';

export interface WorkerLogsParts {
  readonly database: Database;
  readonly endpoints: EndpointsService;
  readonly keys: ApiKeysStore;
  /** Over which agents are heard, and whether they may be. */
  readonly agents: NatsConnection;
  readonly mayHear: Promise<boolean>;
  readonly onStop: (name: string, stop: () => void) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

const ASKER_LENGTH = 12;
/** Lines that wait for slow readers, all together. */
const WAITING_BYTES_MAX = 64 * 2 ** 20;

/** Logs of workers, asked of the agents of their hosts. */
export function composeWorkerLogs(parts: WorkerLogsParts): WorkerLogsService {
  const { agents: connection, clock, database, endpoints, keys, logger, mayHear, metrics, onStop, random } = parts;
  const agents = new AgentLogs({ connection, mayHear, asker: random.id(ASKER_LENGTH) });
  const answers = new StreamedAnswers({ budget: new BodyBudget(WAITING_BYTES_MAX), clock });
  const service = new WorkerLogsService({
    ...{ endpoints, keys, agents, answers, clock, logger },
    places: new LogPlacesStore(database),
  });
  onStop('questions about logs', () => {
    agents.close();
  });
  workerLogMetrics(metrics, () => service.open);
  return service;
}
