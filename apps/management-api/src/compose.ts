import { fileURLToPath } from 'node:url';
import type { InjectionToken, Provider } from '@nestjs/common';
import type { HardwareCatalog } from '@berth/domain';
import {
  API_KEY_DIRECTORY,
  createHttpApp,
  managementRendering,
  pointElsewhere,
  v1Rendering,
  type HttpApp,
  type IdempotencyLedger,
} from '@berth/http';
import { Broker, ensureTopology, logShard, openConnection, topologyLog, unreadableLog } from '@berth/messaging';
import { StartupError, openProcess, type OpenProcess, type ProcessParts } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { AccountUseStore, AccountsService, AccountsStore } from './accounts/index.js';
import { connectAgents, openAgentGateways, startHostCutOff } from './agent-connections/index.js';
import { ApiKeysService, ApiKeysStore } from './api-keys/index.js';
import { ManagementModule } from './app/index.js';
import { AuditStore } from './audit/index.js';
import { credentialsOf } from './broker/index.js';
import { loadCatalog, watchCatalog } from './catalog-file/index.js';
import { CatalogService, HostLoadsStore } from './catalog/index.js';
import { ClustersService, ClustersStore } from './clusters/index.js';
import type { ManagementConfig } from './config.js';
import { EndpointsService, EndpointsStore, PUBLIC_ADDRESSES } from './endpoints/index.js';
import { composeHostSessions, HostSessionsStore, ImagesAheadStore, makeJoinTokens } from './host-sessions/index.js';
import { HostsService, HostsStore } from './hosts/index.js';
import { composeIdempotency } from './idempotency/index.js';
import { JobHistoryService, JobHistoryStore } from './job-history/index.js';
import { composeNodeAdmission, type NodeAdmission } from './node-tokens/index.js';
import { DeletedVolumesStore, NetworkVolumesService, NetworkVolumesStore } from './network-volumes/index.js';
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
import { UsageReportStore, UsageService } from './usage/index.js';
import { V1EndpointsService } from './v1-endpoints/index.js';
import { composeWebhookSecrets, type WebhookSecretKeeper, WebhookSecretsService } from './webhook-secrets/index.js';
import { composeSealing } from './sealing/index.js';
import { ScalingHistoryService, ScalingHistoryStore } from './scaling-history/index.js';
import { composeWorkerLogs, type WorkerLogsService } from './worker-logs/index.js';
import { WorkersService, WorkersStore } from './workers/index.js';

const POOL_MAX = 20;
const MANAGEMENT_BODY_MAX_BYTES = 1_024 * 1_024;
const INBOX_PREFIX = '_INBOX_management';
/** Beside the programs, in the sources as in the build. */
const PROBLEM_PAGES = fileURLToPath(new URL('../../../docs/problems/', import.meta.url));

/** The parts of the process that others need. */
interface Process extends OpenProcess {
  readonly config: ManagementConfig;
  readonly catalog: HardwareCatalog;
}

export interface ListeningPorts {
  readonly httpPort: number;
  readonly operationsPort: number;
}

/** Starts the management API; what has been started is stopped in the opposite order. */
export async function startManagementApi(config: ManagementConfig, parts: ProcessParts): Promise<ListeningPorts> {
  const { httpHost: host, operationsPort: port } = config;
  const traces = { ...config.tracing, process: 'management-api', instance: null };
  const catalog = await loadCatalog(config.catalogFile);
  const self: Process = { ...(await openProcess(parts, { host, port, traces })), config, catalog };
  const { logger, operationsPort, readiness } = self;
  const database = await openDatabase(self);
  watchCatalog({ ...self, app: 'management-api', file: config.catalogFile, database });
  const connection = await openNats(self);
  const httpPort = await startServing(self, database, connection);
  readiness.start();
  logger.info(`serving ${config.baseUrl}`, { httpPort, operationsPort });
  return { httpPort, operationsPort };
}

/** @throws StartupError when the schema is older than this program */
async function openDatabase({ clock, config, logger, onStop, random, readiness }: Process): Promise<Database> {
  const source = await openDataSource(
    { url: config.databaseUrl, applicationName: 'berth-management-api', poolMax: POOL_MAX },
    { clock, random, logger },
  );
  onStop('database', () => source.destroy());
  const database = new Database(source);
  if (await database.isBehind()) {
    throw new StartupError('The database schema is older than this program. Run `npm run db:migrate` first.');
  }
  readiness.add('postgresql', () => database.ping());
  return database;
}

async function openNats(self: Process): Promise<NatsConnection> {
  const { natsSeed, natsUrl: url } = self.config;
  const as = { name: 'management-api', url, credentials: credentialsOf(natsSeed), inboxPrefix: INBOX_PREFIX };
  const connection = await openConnection(self, as);
  self.readiness.add('nats', () => connection.flush());
  return connection;
}

async function startServing(self: Process, database: Database, connection: NatsConnection): Promise<number> {
  const { clock, config, logger, metrics, onStop, random, readiness } = self;
  const { secrets } = config;
  const tools = { clock, random, logger, metrics };
  const onUnreadable = unreadableLog({ metrics, logger });
  const broker = await Broker.over({ connection, inboxPrefix: INBOX_PREFIX, onUnreadable });
  const onChange = topologyLog(logger);
  await ensureTopology({ broker, part: 'snapshots', size: config.topology, clock, random, onChange });
  const publishing = composeSnapshots({ ...tools, broker, database, transactions: database });
  const { snapshots } = publishing;
  const { filling, keeper } = composeWebhookSecrets({ ...tools, database, secrets, snapshots });
  const accounts = new AccountsStore(database);
  const hosts = new HostsStore(database);
  const resync = await composeResync({
    ...tools,
    broker,
    snapshots: publishing,
    filling,
    forgetting: { run: async () => (await accounts.forgetDeleted()) + (await hosts.forgetNodes(clock.nowMs())) },
  });
  onStop('snapshot resync', () => resync.stop());
  readiness.add('snapshots', () => resync.check());
  const agents = { ...self, store: new HostSessionsStore(database) };
  const cutOff = await startHostCutOff(agents);
  const sealing = composeSealing({ ...tools, database, secrets, webhookSecrets: keeper });
  sealing.start();
  onStop('sealing', () => sealing.stop());
  const idempotency = composeIdempotency({ ...tools, database, secrets });
  onStop('request ledgers', () => idempotency.stop());
  const agentLine = await connectAgents(agents, connection);
  const guarded = Promise.withResolvers<boolean>();
  const hearing = { agents: agentLine, mayHear: guarded.promise, hostSessions: agents.store };
  const services = { ...self, ...hearing, database, snapshots, accounts, hosts, webhookSecrets: keeper };
  const { logs, nodes, providers } = composeServices(services, () => cutOff?.hurry());
  const app = await openApp(self, { providers, database, idempotency: idempotency.ledger });
  const guard = await openAgentGateways(agents, { app, connection, agents: agentLine, nodes });
  guarded.resolve(guard.isOpen);
  onStop('http', () => app.drain());
  onStop('log streams', () => {
    logs.stop();
  });
  onStop('callers', () => {
    readiness.stop();
    return app.leave(config.drainDelayMs);
  });
  return app.listen(config.httpHost, config.httpPort);
}

interface AppParts {
  readonly providers: Provider[];
  readonly database: Database;
  readonly idempotency: IdempotencyLedger;
}

/** Everything that answers requests; it does not listen yet. */
function openApp(
  { clock, config, logger, metrics, random, traces }: Process,
  { database, idempotency, providers }: AppParts,
): Promise<HttpApp> {
  const tools = { clock, random, logger, metrics, traces };
  return createHttpApp(ManagementModule.of(providers), {
    ...tools,
    docsUrl: config.docsUrl,
    credentialForm: 'bearer',
    renderingOf: ({ url }) => (url.startsWith('/v1/') ? v1Rendering : managementRendering),
    bodyMaxBytes: () => MANAGEMENT_BODY_MAX_BYTES,
    trustedProxies: config.trustedProxies,
    elsewhere: pointElsewhere('management', config.addresses.runUrl),
    rateLimiter: new AccountRateLimiter({
      ...tools,
      windows: new RateWindowsStore(database),
      quotas: config.rateQuotas,
    }),
    idempotency,
    configure: (_fastify, nest) => {
      serveOpenApi(nest);
    },
  });
}

interface ServiceParts extends Process {
  readonly database: Database;
  readonly snapshots: ControlSnapshots;
  readonly accounts: AccountsStore;
  readonly hosts: HostsStore;
  readonly hostSessions: HostSessionsStore;
  readonly webhookSecrets: WebhookSecretKeeper;
  readonly agents: NatsConnection;
  readonly mayHear: Promise<boolean>;
}

interface Services {
  readonly providers: Provider[];
  readonly logs: WorkerLogsService;
  /** Null: no node joins by itself. */
  readonly nodes: NodeAdmission | null;
}

/** The services behind the controllers, each under its own class. */
function composeServices(parts: ServiceParts, onRemoved: () => void): Services {
  const { catalog, clock, config, database, hostSessions, logger, metrics, random, snapshots, webhookSecrets } = parts;
  const envs = new EnvSeal(config.secrets);
  const [use, changes] = [new AccountUseStore(database), new ChangeSeal(config.secrets)];
  const audit = new AuditStore(database, clock, changes);
  const shared = { catalog, clock, random, snapshots, audit, use, transactions: database };
  const apiKeys = new ApiKeysStore(database);
  const credentials = new RegistryCredentialsService(config.secrets, logger);
  const templates = new TemplatesService({ ...shared, records: new TemplatesStore(database, envs) });
  const endpoints = new EndpointsService({ ...shared, ...endpointParts(parts, { changes, envs, templates }) });
  const logs = composeWorkerLogs({ ...parts, endpoints, keys: apiKeys });
  const workers = new WorkersStore(database);
  const inviting = { makeJoinToken: makeJoinTokens(random), onRemoved };
  const hosts = new HostsService({ ...shared, ...inviting, records: parts.hosts });
  const clusters = new ClustersService(new ClustersStore(database));
  const services = [
    audit,
    catalog,
    templates,
    endpoints,
    logs,
    clusters,
    new AccountsService({ ...shared, records: parts.accounts }),
    new ApiKeysService({ ...shared, records: apiKeys }),
    new NetworkVolumesService({ ...shared, records: new NetworkVolumesStore(database) }),
    new RegistriesService({ ...shared, records: new RegistriesStore(database), credentials }),
    new WebhookSecretsService({ ...shared, endpoints, keeper: webhookSecrets }),
    new WorkersService({ ...shared, endpoints, records: workers }),
    new ScalingHistoryService({ endpoints, workers, records: new ScalingHistoryStore(database) }),
    new UsageService({ clock, records: new UsageReportStore(database) }),
    new V1EndpointsService(endpoints, catalog),
    new ReleasesService({ endpoints, workers, records: new ReleasesStore(database, changes) }),
    hosts,
    new CatalogService({ ...shared, loads: new HostLoadsStore(database) }),
    new JobHistoryService(new JobHistoryStore(database, logShard)),
    new PodsService({ ...shared, clusters, records: new PodsStore(database) }),
    new ProblemPagesService(PROBLEM_PAGES),
    composeHostSessions({
      imagesAhead: new ImagesAheadStore(database),
      ...{ store: hostSessions, deletedVolumes: new DeletedVolumesStore(database) },
      ...{ catalog, snapshots, credentials, envs, clock, logger, metrics },
    }),
  ];
  const own = [valueOf(API_KEY_DIRECTORY, apiKeys), valueOf(PUBLIC_ADDRESSES, config.addresses)];
  return {
    providers: [...own, ...services.map((service) => valueOf(service.constructor, service))],
    logs,
    nodes: composeNodeAdmission(parts, { config: config.nodeJoin, hosts }),
  };
}

/** What endpoints have of their own, and of others. */
const endpointParts = (
  { database, webhookSecrets }: ServiceParts,
  {
    templates,
    ...seals
  }: { readonly changes: ChangeSeal; readonly envs: EnvSeal; readonly templates: TemplatesService },
) => ({
  references: new EndpointReferences({ templates, records: new ReferencesStore(database) }),
  webhookSecrets,
  records: new EndpointsStore(database, seals),
});

const valueOf = (provide: InjectionToken, useValue: object): Provider => ({ provide, useValue });
