import type { Writable } from 'node:stream';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { createHttpApp, managementRendering, pointElsewhere, v1Rendering } from '@berth/http';
import { Broker, drainConnection, ensureTopology, unreadableLog } from '@berth/messaging';
import {
  MetricRegistry,
  OperationsServer,
  Readiness,
  StartupError,
  createLogger,
  type Logger,
  type Main,
} from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { AppModule } from './app.module.js';
import { composeEdge } from './compose-edge.js';
import { composeResync } from './snapshots/compose-resync.js';
import { composeServices } from './compose-services.js';
import { composeSnapshots } from './snapshots/compose-snapshots.js';
import { composeWebhookSecrets } from './webhook-secrets/compose-webhook-secrets.js';
import type { ManagementConfig } from './config.js';
import { connectBroker } from './broker/connect-broker.js';
import { serveOpenApi } from './openapi/openapi-document.js';
import { openDataSource } from './persistence/open-data-source.js';
import { Database } from './persistence/database.js';
import { EnvSeal } from './persistence/env-seal.js';
import { makeEnvSealing } from './env-sealing/env-sealing.js';
import { EnvBackfillStore } from './env-sealing/env-backfill.store.js';
import { HostSessionsStore } from './host-sessions/host-sessions.store.js';
import { openAgentGateways, startHostCutOff } from './agent-connections/agent-connections.js';

const CLOCK = systemClock;
const RANDOM = systemRandom;
const POOL_MAX = 20;
const BODY_MAX_BYTES = 1_024 * 1_024;
const DRAIN_MS = 10_000;
const INBOX_PREFIX = '_INBOX_management';

/** What the process is made of, as far as its parts need one another. */
interface Process {
  readonly config: ManagementConfig;
  readonly main: Main;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly readiness: Readiness;
}

export interface ListeningPorts {
  readonly httpPort: number;
  readonly operationsPort: number;
}

/**
 * Starts the management API; what has been started is stopped in the opposite order.
 *
 * @param log where lines go; standard output when it is not given
 */
export async function startManagementApi(
  config: ManagementConfig,
  main: Main,
  log?: Writable,
): Promise<ListeningPorts> {
  const output = log === undefined ? {} : { output: log };
  const logger = createLogger({ name: 'management-api', level: config.logLevel, format: config.logFormat, ...output });
  main.logTo(logger);
  const metrics = new MetricRegistry();
  metrics.collectProcess();
  const readiness = new Readiness(CLOCK);
  const self: Process = { config, main, logger, metrics, readiness };
  const operationsPort = await startOperations(self);
  const database = await openDatabase(self);
  const connection = await openNats(self);
  const httpPort = await startServing(self, database, connection);
  readiness.start();
  main.onStop('readiness', () => {
    readiness.stop();
  });
  logger.info(`serving ${config.baseUrl}`, { httpPort, operationsPort });
  return { httpPort, operationsPort };
}

async function startOperations({ config, main, metrics, readiness }: Process): Promise<number> {
  const { httpHost: host, operationsPort: port } = config;
  const operations = new OperationsServer({ host, port, readiness, metrics });
  const taken = await operations.start();
  main.onStop('operations server', () => operations.stop());
  return taken;
}

/** @throws StartupError when the schema is older than this program */
async function openDatabase({ config, logger, main, readiness }: Process): Promise<Database> {
  const source = await openDataSource(
    { url: config.databaseUrl, applicationName: 'berth-management-api', poolMax: POOL_MAX },
    { clock: CLOCK, random: RANDOM, logger },
  );
  main.onStop('database', () => source.destroy());
  const database = new Database(source);
  if (await database.isBehind()) {
    throw new StartupError('The database schema is older than this program. Run `npm run db:migrate` first.');
  }
  readiness.add('postgresql', () => database.ping());
  return database;
}

async function openNats(self: Process): Promise<NatsConnection> {
  const { config, logger } = self;
  const as = { name: 'management-api', seed: config.natsSeed, inboxPrefix: INBOX_PREFIX };
  const connection = await connectBroker({ ...config, logger }, as);
  self.main.onStop('nats', () => drainConnection(connection, CLOCK));
  self.readiness.add('nats', () => connection.flush());
  return connection;
}

async function startServing(self: Process, database: Database, connection: NatsConnection): Promise<number> {
  const { config, logger, main, metrics, readiness } = self;
  const onUnreadable = unreadableLog({ app: 'management', metrics, logger });
  const broker = await Broker.over({ connection, inboxPrefix: INBOX_PREFIX, onUnreadable });
  await ensureTopology({ broker, part: 'snapshots', size: config.topology, clock: CLOCK, random: RANDOM });
  const publishing = composeSnapshots({ broker, database, transactions: database, clock: CLOCK, logger, metrics });
  const { snapshots } = publishing;
  const { secrets } = config;
  const { filling } = composeWebhookSecrets({ database, secrets, snapshots, clock: CLOCK, random: RANDOM });
  const resyncParts = { broker, database, snapshots: publishing, clock: CLOCK, logger, metrics, filling };
  const resync = await composeResync(resyncParts);
  main.onStop('snapshot resync', () => resync.stop());
  readiness.add('snapshots', () => resync.check());
  const agents = { ...self, clock: CLOCK, store: new HostSessionsStore(database) };
  const cutOff = await startHostCutOff(agents);
  const onHostRemoved = (): void => cutOff?.hurry();
  const shared = { config, database, snapshots, clock: CLOCK, random: RANDOM, logger, metrics };
  const providers = composeServices({ ...shared, onHostRemoved });
  const sealing = makeEnvSealing(new EnvBackfillStore(database, new EnvSeal(secrets)), { clock: CLOCK, logger });
  sealing.start();
  main.onStop('env sealing', () => sealing.stop());
  const edge = composeEdge({ config, database, clock: CLOCK, logger, metrics });
  main.onStop('request ledgers', () => edge.stop());
  const app = await createHttpApp(AppModule.of(providers), {
    logger,
    clock: CLOCK,
    random: RANDOM,
    metrics,
    docsUrl: config.docsUrl,
    credentialForm: 'bearer',
    renderingOf: ({ url }) => (url.startsWith('/v1/') ? v1Rendering : managementRendering),
    bodyMaxBytes: () => BODY_MAX_BYTES,
    trustedProxies: config.trustedProxies,
    elsewhere: pointElsewhere('management', config.addresses.runUrl),
    rateLimiter: edge.rateLimiter,
    idempotency: edge.idempotency,
    configure: (_fastify, nest) => {
      serveOpenApi(nest);
    },
  });
  await openAgentGateways(agents, { app, connection });
  main.onStop('http', () => app.drain(DRAIN_MS));
  return app.listen(config.httpHost, config.httpPort);
}
