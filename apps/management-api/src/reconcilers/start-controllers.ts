import { BUCKETS, assignmentSnapshotShape } from '@berth/contracts';
import { isUnreadable, type UnreadableMessage } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import {
  Broker,
  SnapshotDirectory,
  SnapshotWriter,
  drainConnection,
  snapshotCodec,
  unreadableLog,
} from '@berth/messaging';
import { MetricRegistry, OperationsServer, Readiness, createLogger, type Logger, type Main } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectBroker } from '../broker/index.js';
import { composeJobHistory } from '../job-history/index.js';
import { Database, openDataSource } from '../persistence/index.js';
import { LeaderLease, type LeaderTerm } from '../leadership/index.js';
import { FleetStore } from './fleet.store.js';
import type { ControllersConfig } from './config.js';
import { ControlLoops } from './control-loops.js';
import { DemandBoard } from './demand-board.js';
import { EndpointScaling } from './endpoint-scaling.reconciler.js';
import { NatsFleetOutlet } from './nats-fleet-outlet.js';
import { FleetReconciler } from './fleet.reconciler.js';
import { controllersMetrics } from './metrics.js';
import { WorkerPlacement } from './worker-placement.reconciler.js';

const POOL_MAX = 5;
const LEASE_MS = 5_000;
const INBOX_PREFIX = '_INBOX_controllers';
const CLOCK = systemClock;
const RANDOM = systemRandom;

/** Composition root of the controllers process: the only place that names its concrete parts. */
export async function startControllers(config: ControllersConfig, main: Main): Promise<void> {
  const logger = createLogger({ name: 'controllers', level: config.logLevel, format: config.logFormat });
  main.logTo(logger);
  const metrics = new MetricRegistry();
  metrics.collectProcess();
  const onUnreadable = unreadableLog({ app: 'controllers', metrics, logger });
  const readiness = new Readiness(CLOCK);
  const operations = new OperationsServer({
    host: config.operationsHost,
    port: config.operationsPort,
    readiness,
    metrics,
  });
  await operations.start();
  main.onStop('operations server', () => operations.stop());

  const source = await openDataSource(
    { url: config.databaseUrl, applicationName: 'berth-controllers', poolMax: POOL_MAX },
    { clock: CLOCK, random: RANDOM, logger },
  );
  main.onStop('database', () => source.destroy());
  const connection = await connect(config, { main, logger, name: 'controllers' });
  // Logs are large: on their way they must not keep the control loops waiting.
  const logConnection = await connect(config, { main, logger, name: 'controllers logs' });
  const database = new Database(source);
  readiness.add('postgresql', () => database.ping());
  readiness.add('nats', () => connection.flush());
  const parts = { database, connection, logger, metrics, onUnreadable };
  const outlet = await composeOutlet(parts);
  main.onStop('assignments', () => outlet.stop());
  await outlet.start();
  const lease = new LeaderLease(source, {
    name: 'controllers',
    holder: RANDOM.uuid(),
    leaseMs: LEASE_MS,
    clock: CLOCK,
  });
  const loops = composeLoops(parts, outlet, lease);
  loops.start();
  main.onStop('control loops', () => loops.stop());
  const { historyRetentionDays: retentionDays } = config;
  const broker = await Broker.over({ connection: logConnection, inboxPrefix: INBOX_PREFIX, onUnreadable });
  const history = composeJobHistory({ broker, database, lease, retentionDays, clock: CLOCK, logger, metrics });
  history.start();
  main.onStop('job history', () => history.stop());
  readiness.start();
}

async function connect(
  config: ControllersConfig,
  { logger, main, name }: { readonly main: Main; readonly logger: Logger; readonly name: string },
): Promise<NatsConnection> {
  const { natsSeed: seed, natsUrl } = config;
  const connection = await connectBroker({ natsUrl, logger }, { name, seed, inboxPrefix: INBOX_PREFIX });
  main.onStop(`nats ${name}`, () => drainConnection(connection, CLOCK));
  return connection;
}

interface Parts {
  readonly database: Database;
  readonly connection: NatsConnection;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly onUnreadable: (message: UnreadableMessage) => void;
}

async function composeOutlet({ connection, logger, onUnreadable }: Parts): Promise<NatsFleetOutlet> {
  const broker = await Broker.over({ connection, inboxPrefix: INBOX_PREFIX, onUnreadable });
  const bucket = { broker, clock: CLOCK, bucket: BUCKETS.assignments, codec: snapshotCodec(assignmentSnapshotShape) };
  const onError = (error: unknown): void => {
    if (!isUnreadable(error)) logger.warn('the bucket of assignments', { error });
  };
  return new NatsFleetOutlet({
    connection,
    writer: new SnapshotWriter(bucket),
    directory: new SnapshotDirectory({ ...bucket, onError }),
  });
}

function composeLoops(parts: Parts, outlet: NatsFleetOutlet, lease: LeaderLease): ControlLoops {
  const { connection, database, logger, metrics: registry, onUnreadable } = parts;
  const store = new FleetStore(database);
  const demand = new DemandBoard();
  const metrics = controllersMetrics(registry);
  const placement = new WorkerPlacement({ store, random: RANDOM, logger, metrics });
  const newFleet = (term: LeaderTerm): FleetReconciler =>
    new FleetReconciler({
      store,
      demand,
      scaling: new EndpointScaling(),
      placement,
      outlet,
      clock: CLOCK,
      term,
      logger,
      metrics,
    });
  return new ControlLoops({
    connection,
    lease,
    demand,
    newFleet,
    clock: CLOCK,
    logger,
    metrics: registry,
    onUnreadable,
  });
}
