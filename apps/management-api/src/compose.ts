import { fileURLToPath } from 'node:url';
import type { Writable } from 'node:stream';
import type { Provider } from '@nestjs/common';
import { API_KEY_DIRECTORY, createHttpApp, managementRendering, pointElsewhere, v1Rendering } from '@berth/http';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { Broker, drainConnection, ensureTopology, logShard, unreadableLog } from '@berth/messaging';
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
import { AccountsService, AccountsStore } from './accounts/index.js';
import { openAgentGateways, startHostCutOff } from './agent-connections/index.js';
import { ApiKeysService, ApiKeysStore } from './api-keys/index.js';
import { ManagementModule } from './app/index.js';
import { AuditStore } from './audit/index.js';
import { connectBroker } from './broker/index.js';
import { CatalogService, HostLoadsStore } from './catalog/index.js';
import { ClustersService, ClustersStore } from './clusters/index.js';
import type { ManagementConfig } from './config.js';
import { EndpointsService, EndpointsStore, PUBLIC_ADDRESSES } from './endpoints/index.js';
import { EnvBackfillStore, makeEnvSealing } from './env-sealing/index.js';
import { composeHostSessions, HostSessionsStore, makeJoinTokens } from './host-sessions/index.js';
import { HostsService, HostsStore } from './hosts/index.js';
import { composeIdempotency } from './idempotency/index.js';
import { JobHistoryService, JobHistoryStore } from './job-history/index.js';
import { NetworkVolumesService, NetworkVolumesStore } from './network-volumes/index.js';
import { serveOpenApi } from './openapi/index.js';
import { ChangeSeal, Database, EnvSeal, openDataSource } from './persistence/index.js';
import { PodsService, PodsStore } from './pods/index.js';
import { ProblemPagesService } from './problems/index.js';
import { AccountRateLimiter, RateWindowsStore } from './rate-limits/index.js';
import { EndpointReferences, ReferencesStore } from './references/index.js';
import { RegistriesService, RegistriesStore, RegistryCredentialsService } from './registries/index.js';
import { ReleasesService, ReleasesStore } from './releases/index.js';
import { composeResync, composeSnapshots, type ControlSnapshots } from './snapshots/index.js';
import { TemplatesService, TemplatesStore } from './templates/index.js';
import { V1EndpointsService } from './v1-endpoints/index.js';
import { composeWebhookSecrets, type WebhookSecretKeeper, WebhookSecretsService } from './webhook-secrets/index.js';
import { WorkersService, WorkersStore } from './workers/index.js';

const CLOCK = systemClock;
const RANDOM = systemRandom;
const POOL_MAX = 20;
const BODY_MAX_BYTES = 1_024 * 1_024;
const DRAIN_MS = 10_000;
const INBOX_PREFIX = '_INBOX_management';
/** Beside the programs, in the sources as in the build. */
const PROBLEM_PAGES = fileURLToPath(new URL('../../../docs/problems/', import.meta.url));

/** The parts of the process that others need. */
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
  const { secrets } = config;
  const tools = { clock: CLOCK, random: RANDOM, logger, metrics };
  const onUnreadable = unreadableLog({ app: 'management', metrics, logger });
  const broker = await Broker.over({ connection, inboxPrefix: INBOX_PREFIX, onUnreadable });
  await ensureTopology({ broker, part: 'snapshots', size: config.topology, clock: CLOCK, random: RANDOM });
  const publishing = composeSnapshots({ ...tools, broker, database, transactions: database });
  const { snapshots } = publishing;
  const { filling, keeper } = composeWebhookSecrets({ ...tools, database, secrets, snapshots });
  const accounts = new AccountsStore(database);
  const resync = await composeResync({
    ...tools,
    broker,
    snapshots: publishing,
    filling,
    forgetting: { run: () => accounts.forgetDeleted() },
  });
  main.onStop('snapshot resync', () => resync.stop());
  readiness.add('snapshots', () => resync.check());
  const agents = { ...self, clock: CLOCK, store: new HostSessionsStore(database) };
  const cutOff = await startHostCutOff(agents);
  const sealing = makeEnvSealing(new EnvBackfillStore(database, new EnvSeal(secrets)), tools);
  sealing.start();
  main.onStop('env sealing', () => sealing.stop());
  const idempotency = composeIdempotency({ ...tools, database, secrets });
  main.onStop('request ledgers', () => idempotency.stop());
  const services = { ...self, database, snapshots, accounts, hostSessions: agents.store, webhookSecrets: keeper };
  const app = await createHttpApp(ManagementModule.of(composeServices(services, () => cutOff?.hurry())), {
    ...tools,
    docsUrl: config.docsUrl,
    credentialForm: 'bearer',
    renderingOf: ({ url }) => (url.startsWith('/v1/') ? v1Rendering : managementRendering),
    bodyMaxBytes: () => BODY_MAX_BYTES,
    trustedProxies: config.trustedProxies,
    elsewhere: pointElsewhere('management', config.addresses.runUrl),
    rateLimiter: new AccountRateLimiter({
      ...tools,
      windows: new RateWindowsStore(database),
      quotas: config.rateQuotas,
    }),
    idempotency: idempotency.ledger,
    configure: (_fastify, nest) => {
      serveOpenApi(nest);
    },
  });
  await openAgentGateways(agents, { app, connection });
  main.onStop('http', () => app.drain(DRAIN_MS));
  return app.listen(config.httpHost, config.httpPort);
}

interface ServiceParts extends Pick<Process, 'config' | 'logger' | 'metrics'> {
  readonly database: Database;
  readonly snapshots: ControlSnapshots;
  readonly accounts: AccountsStore;
  readonly hostSessions: HostSessionsStore;
  readonly webhookSecrets: WebhookSecretKeeper;
}

/** The services behind the controllers, each under its own class. */
function composeServices(parts: ServiceParts, onRemoved: () => void): Provider[] {
  const { config, database, hostSessions, logger, metrics, snapshots, webhookSecrets } = parts;
  const envs = new EnvSeal(config.secrets);
  const changes = new ChangeSeal(config.secrets);
  const audit = new AuditStore(database, CLOCK, changes);
  const shared = { clock: CLOCK, random: RANDOM, snapshots, audit, transactions: database };
  const apiKeys = new ApiKeysStore(database);
  const credentials = new RegistryCredentialsService(config.secrets, logger);
  const templates = new TemplatesService({ ...shared, records: new TemplatesStore(database, envs) });
  const endpoints = new EndpointsService({
    ...shared,
    references: new EndpointReferences({ templates, records: new ReferencesStore(database) }),
    webhookSecrets,
    records: new EndpointsStore(database, { changes, envs }),
  });
  const workers = new WorkersStore(database);
  const makeJoinToken = makeJoinTokens(RANDOM);
  const clusters = new ClustersService(new ClustersStore(database));
  const services = [
    audit,
    templates,
    endpoints,
    clusters,
    new AccountsService({ ...shared, records: parts.accounts }),
    new ApiKeysService({ ...shared, records: apiKeys }),
    new NetworkVolumesService({ ...shared, records: new NetworkVolumesStore(database) }),
    new RegistriesService({ ...shared, records: new RegistriesStore(database), credentials }),
    new WebhookSecretsService({ ...shared, endpoints, keeper: webhookSecrets }),
    new WorkersService({ ...shared, endpoints, records: workers }),
    new V1EndpointsService(endpoints),
    new ReleasesService({ endpoints, workers, records: new ReleasesStore(database, changes) }),
    new HostsService({ ...shared, records: new HostsStore(database), makeJoinToken, onRemoved }),
    new CatalogService({ ...shared, loads: new HostLoadsStore(database) }),
    new JobHistoryService(new JobHistoryStore(database, logShard)),
    new PodsService({ ...shared, clusters, records: new PodsStore(database) }),
    new ProblemPagesService(PROBLEM_PAGES),
    composeHostSessions({ store: hostSessions, snapshots, credentials, envs, clock: CLOCK, logger, metrics }),
  ];
  return [
    { provide: API_KEY_DIRECTORY, useValue: apiKeys },
    { provide: PUBLIC_ADDRESSES, useValue: config.addresses },
    ...services.map((service) => ({ provide: service.constructor, useValue: service })),
  ];
}
