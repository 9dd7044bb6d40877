import { BUCKETS, assignmentSnapshotShape } from '@berth/contracts';
import { isUnreadable, type UnreadableMessage } from '@berth/domain';
import {
  Broker,
  SnapshotDirectory,
  SnapshotWriter,
  openConnection,
  snapshotCodec,
  unreadableLog,
} from '@berth/messaging';
import { openProcess, systemProcess, type Main, type OpenProcess } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { credentialsOf } from '../broker/index.js';
import { composeJobHistory } from '../job-history/index.js';
import { Database, openDataSource } from '../persistence/index.js';
import { LeaderLease, type LeaderTerm } from '../leadership/index.js';
import { FleetStore } from './fleet.store.js';
import type { ControllersConfig } from './config.js';
import { ControlLoops } from './control-loops.js';
import { DemandBoard } from './demand-board.js';
import { NatsFleetPublisher } from './nats-fleet-publisher.js';
import { FleetReconciler } from './fleet-reconciler.js';
import { controllersMetrics } from './metrics.js';

const POOL_MAX = 5;
const LEASE_MS = 5_000;
const INBOX_PREFIX = '_INBOX_controllers';

/** Composition root of the controllers process: the only place that names its concrete parts. */
export async function startControllers(config: ControllersConfig, main: Main): Promise<void> {
  const at = { host: config.operationsHost, port: config.operationsPort };
  const process = await openProcess(systemProcess(main, 'controllers', config), at);
  const { clock, logger, metrics, onStop, random, readiness } = process;
  const onUnreadable = unreadableLog({ app: 'controllers', metrics, logger });
  const source = await openDataSource(
    { url: config.databaseUrl, applicationName: 'berth-controllers', poolMax: POOL_MAX },
    { clock, random, logger },
  );
  onStop('database', () => source.destroy());
  const { natsSeed, natsUrl: url } = config;
  const as = { url, credentials: credentialsOf(natsSeed), inboxPrefix: INBOX_PREFIX };
  const connection = await openConnection(process, { ...as, name: 'controllers' });
  // Logs are large: on their way they must not keep the control loops waiting.
  const logConnection = await openConnection(process, { ...as, name: 'controllers logs' });
  const database = new Database(source);
  readiness.add('postgresql', () => database.ping());
  readiness.add('nats', () => connection.flush());
  const parts = { ...process, database, connection, onUnreadable };
  const publisher = await composePublisher(parts);
  onStop('assignments', () => publisher.stop());
  await publisher.start();
  const lease = new LeaderLease(source, {
    name: 'controllers',
    holder: random.uuid(),
    leaseMs: LEASE_MS,
    clock,
  });
  const loops = composeLoops(parts, publisher, lease);
  loops.start();
  onStop('control loops', () => loops.stop());
  const { historyRetentionDays: retentionDays } = config;
  const broker = await Broker.over({ connection: logConnection, inboxPrefix: INBOX_PREFIX, onUnreadable });
  const history = composeJobHistory({ broker, database, lease, retentionDays, clock, logger, metrics });
  history.start();
  onStop('job history', () => history.stop());
  readiness.start();
}

interface Parts extends OpenProcess {
  readonly database: Database;
  readonly connection: NatsConnection;
  readonly onUnreadable: (message: UnreadableMessage) => void;
}

async function composePublisher({ clock, connection, logger, onUnreadable }: Parts): Promise<NatsFleetPublisher> {
  const broker = await Broker.over({ connection, inboxPrefix: INBOX_PREFIX, onUnreadable });
  const bucket = { broker, clock, bucket: BUCKETS.assignments, codec: snapshotCodec(assignmentSnapshotShape) };
  const onError = (error: unknown): void => {
    if (!isUnreadable(error)) logger.warn('the bucket of assignments', { error });
  };
  return new NatsFleetPublisher({
    connection,
    writer: new SnapshotWriter(bucket),
    directory: new SnapshotDirectory({ ...bucket, onError }),
  });
}

function composeLoops(parts: Parts, publisher: NatsFleetPublisher, lease: LeaderLease): ControlLoops {
  const { clock, connection, database, logger, metrics: registry, onUnreadable, random } = parts;
  const store = new FleetStore(database);
  const demand = new DemandBoard();
  const metrics = controllersMetrics(registry);
  const newFleet = (term: LeaderTerm): FleetReconciler =>
    new FleetReconciler({ store, demand, publisher, clock, random, term, logger, metrics });
  return new ControlLoops({ connection, lease, demand, newFleet, clock, logger, metrics: registry, onUnreadable });
}
