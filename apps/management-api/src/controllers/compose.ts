import { Broker, openConnection, unreadableLog, watchCertificates } from '@berth/messaging';
import { openProcess, type ProcessParts } from '@berth/telemetry';
import { credentialsOf } from '../broker/index.js';
import { loadCatalog, watchCatalog } from '../catalog-file/index.js';
import { composeJobHistory } from '../job-history/index.js';
import { LeaderLease } from '../leadership/index.js';
import { Database, openDataSource } from '../persistence/index.js';
import { startPlaceholders } from '../placeholders/index.js';
import { startReconcilers } from '../reconcilers/index.js';
import { UsageLoop, UsageStore } from '../usage/index.js';
import type { ControllersConfig } from './config.js';

const POOL_MAX = 5;
const LEADER_LEASE_MS = 5_000;
const INBOX_PREFIX = '_INBOX_controllers';

/** Composition root of the controllers process: the only place that names its concrete parts. */
export async function startControllers(config: ControllersConfig, parts: ProcessParts): Promise<void> {
  const catalog = await loadCatalog(config.catalogFile);
  const process = await openProcess(parts, { host: config.operationsHost, port: config.operationsPort });
  const { clock, logger, metrics, onStop, random, readiness } = process;
  const onUnreadable = unreadableLog({ metrics, logger });
  const source = await openDataSource(
    { url: config.databaseUrl, applicationName: 'berth-controllers', poolMax: POOL_MAX },
    { clock, random, logger },
  );
  onStop('database', () => source.destroy());
  const { natsSeed, natsUrl: url } = config;
  const as = { url, credentials: credentialsOf(natsSeed), inboxPrefix: INBOX_PREFIX };
  const connection = await openConnection(process, { ...as, name: 'controllers' });
  watchCertificates(process, url);
  // Logs are large: on their way they must not keep the control loops waiting.
  const logConnection = await openConnection(process, { ...as, name: 'controllers logs' });
  const database = new Database(source);
  readiness.add('postgresql', () => database.ping());
  readiness.add('nats', () => connection.flush());
  watchCatalog({ ...process, app: 'controllers', catalog, file: config.catalogFile, database });
  const lease = new LeaderLease(source, {
    name: 'controllers',
    holder: random.uuid(),
    leaseMs: LEADER_LEASE_MS,
    clock,
  });
  const { historyRetentionDays: retentionDays, placeholders } = config;
  const nodesComeTo = placeholders?.dataCenterId ?? null;
  const fleet = { catalog, database, connection, inboxPrefix: INBOX_PREFIX, lease, onUnreadable, nodesComeTo };
  const shortages = await startReconcilers({ ...process, ...fleet });
  if (placeholders !== null) startPlaceholders({ ...process, config: placeholders, lease, shortages });
  const usage = new UsageLoop({ ...process, lease, usage: new UsageStore(database) });
  usage.start();
  onStop('usage', () => usage.stop());
  const broker = await Broker.over({ connection: logConnection, inboxPrefix: INBOX_PREFIX, onUnreadable });
  const history = composeJobHistory({ broker, database, lease, retentionDays, clock, logger, metrics });
  history.start();
  onStop('job history', () => history.stop());
  readiness.start();
}
