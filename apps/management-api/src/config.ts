import { readDrainDelay, readTrustedProxies, type TrustedProxies } from '@berth/http';
import { parseConfig, type ConfigReader, type Environment } from '@berth/lifecycle';
import { readSecretBox, type SecretBox } from '@berth/secrets';
import { readLogSettings, readTraceSettings, type LogSettings, type TraceSettings } from '@berth/telemetry';
import { PORT_MAX, GIB, MIB, isEndpointDomain, endpointIdOfHost, type PublicAddresses } from '@berth/domain';
import type { TopologySize } from '@berth/messaging';
import { readSeedKey, type SeedKey } from './accounts/index.js';
import { readCatalogPath } from './catalog-file/index.js';
import { readNodeJoin, type NodeJoinConfig } from './node-tokens/index.js';
import type { RateQuotas } from './rate-limits/index.js';

/** How agents are let in by the broker's auth callout. */
interface AdmissionConfig {
  /** nkey seed of the role `callout`. */
  readonly calloutSeed: string;
  /** nkey seeds of accounts; one that the asking broker trusts signs its answer. */
  readonly issuerSeeds: readonly [string, ...string[]];
}

/** Settings of the management API. */
export interface ManagementConfig extends LogSettings {
  readonly tracing: TraceSettings;
  readonly natsUrl: string;
  /** nkey seed of the role `management`; null: the address carries its credentials. */
  readonly natsSeed: string | null;
  /** nkey seed of the role `sessions`, over which agents are heard; null: as `natsSeed`. */
  readonly agentsSeed: string | null;
  /** nkey seed of the role `system`, which ends connections; null: no process does. */
  readonly systemSeed: string | null;
  /** Agents are heard also where the broker does not keep hosts apart. */
  readonly isBrokerTrusted: boolean;
  /** Account of the broker that agents are put into. */
  readonly agentAccount: string;
  /** Null: another process answers the callout, or there is none. */
  readonly admission: AdmissionConfig | null;
  /** Null: no node of a cluster joins by itself. */
  readonly nodeJoin: NodeJoinConfig | null;
  readonly topology: TopologySize;
  readonly databaseUrl: string;
  /** An operator's catalog; null: the shipped one. */
  readonly catalogFile: string | null;
  /** Seals what tenants entrust to us before it goes into the database. */
  readonly secrets: SecretBox;
  /** Requests of each account. */
  readonly rateQuotas: RateQuotas;
  readonly httpHost: string;
  readonly httpPort: number;
  readonly operationsPort: number;
  /** How long connections are still accepted once the process stops. */
  readonly drainDelayMs: number;
  /** Whose word on where callers are is believed. */
  readonly trustedProxies: TrustedProxies;
  /** Where clients reach this API. */
  readonly baseUrl: string;
  /** Where clients reach the job router. */
  readonly addresses: PublicAddresses;
  /** Problem pages are at `{docsUrl}/problems/<code>`. */
  readonly docsUrl: string;
}

/** Settings of the task that prepares the database. */
export interface MigrateConfig {
  readonly databaseUrl: string;
  /** Key of the account `default`; null: no account is made. */
  readonly seedKey: SeedKey | null;
}

const HTTP_PORT_DEFAULT = 8_000;
const OPERATIONS_PORT_DEFAULT = 9_100;
const REQUESTS_PER_MINUTE = 60;
const REQUESTS_PER_HOUR = 3_000;
const REQUESTS_PER_DAY = 50_000;
const REQUESTS_MAX = 1_000_000_000;
const STORAGE_BOUNDS = { min: MIB, max: Number.MAX_SAFE_INTEGER, fallback: 4 * GIB, unit: 'bytes' };
const MEMORY_BOUNDS = { min: MIB, max: Number.MAX_SAFE_INTEGER, fallback: 64 * MIB, unit: 'bytes' };
const HTTP = ['http:', 'https:'];
const TRUSTED_BROKER =
  '`on`: hear agents also at a broker that lets anyone in, or whose users may all say everything; then whoever reaches it ' +
  'can take and end every job.';

/** @throws ConfigError naming every variable that is missing or wrong */
export const loadManagementConfig = (environment: Environment = process.env): ManagementConfig =>
  parseConfig(environment, readManagementConfig);

/** @public Also read by `npm run settings`. */
export const readManagementConfig = (read: ConfigReader): ManagementConfig => ({
  ...readBroker(read),
  ...readJoining(read),
  topology: readTopology(read),
  databaseUrl: readDatabaseUrl(read),
  catalogFile: readCatalogPath(read),
  secrets: readSecretBox(read),
  rateQuotas: {
    minute: quota(read, 'minute', REQUESTS_PER_MINUTE),
    hour: quota(read, 'hour', REQUESTS_PER_HOUR),
    day: quota(read, 'day', REQUESTS_PER_DAY),
  },
  trustedProxies: readTrustedProxies(read),
  drainDelayMs: readDrainDelay(read),
  ...readAddresses(read),
  ...readLogSettings(read),
  tracing: readTraceSettings(read),
});

/** @throws ConfigError naming every variable that is missing or wrong */
export const loadMigrateConfig = (environment: Environment = process.env): MigrateConfig =>
  parseConfig(environment, readMigrateConfig);

/** @public Also read by `npm run settings`. */
export const readMigrateConfig = (read: ConfigReader): MigrateConfig => ({
  databaseUrl: readDatabaseUrl(read),
  seedKey: readSeedKey(read),
});

const readDatabaseUrl = (read: ConfigReader): string =>
  read.url('BERTH_DATABASE_URL', 'The database.', { protocols: ['postgres:', 'postgresql:'] });

const readBroker = (
  read: ConfigReader,
): Pick<
  ManagementConfig,
  'natsUrl' | 'natsSeed' | 'agentsSeed' | 'systemSeed' | 'isBrokerTrusted' | 'agentAccount'
> => ({
  natsUrl: read.urls('BERTH_NATS_URL', 'The broker.', { protocols: ['nats:', 'tls:'] }),
  natsSeed: read.optional(
    'BERTH_NATS_SEED',
    'nkey seed of the role `management`; without it the address carries its credentials.',
  ),
  agentsSeed: read.optional(
    'BERTH_AGENTS_SEED',
    'nkey seed of the role `sessions`, over which agents are heard; without it, as everything else.',
  ),
  systemSeed: read.optional(
    'BERTH_SYSTEM_SEED',
    'nkey seed of the role `system`, which ends connections; without it nobody does.',
  ),
  isBrokerTrusted:
    read.oneOf('BERTH_TRUSTED_BROKER', TRUSTED_BROKER, { choices: ['on', 'off'], fallback: 'off' }) === 'on',
  agentAccount: read.string('BERTH_AUTH_ACCOUNT', 'Account of the broker that agents are put into.', 'APP'),
});

function readAddresses(
  read: ConfigReader,
): Pick<ManagementConfig, 'httpHost' | 'httpPort' | 'operationsPort' | 'baseUrl' | 'addresses' | 'docsUrl'> {
  const port = { min: 0, max: PORT_MAX };
  const httpHost = read.string('BERTH_HTTP_HOST', 'Address that it listens at.', '127.0.0.1');
  const httpPort = read.integer('BERTH_HTTP_PORT', 'Port for callers.', { ...port, fallback: HTTP_PORT_DEFAULT });
  const operationsPort = read.integer('BERTH_OPERATIONS_PORT', 'Port for health and metrics.', {
    ...port,
    fallback: OPERATIONS_PORT_DEFAULT,
  });
  const baseUrl = read.url('BERTH_BASE_URL', 'Where clients reach this API; by default at `BERTH_HTTP_PORT`.', {
    protocols: HTTP,
    fallback: `http://127.0.0.1:${httpPort}`,
  });
  const docsUrl = read.url(
    'BERTH_DOCS_URL',
    'Problem pages are at `/problems/CODE` under it; by default under `BERTH_BASE_URL`.',
    { protocols: HTTP, fallback: `${baseUrl}/docs` },
  );
  const addresses = {
    runUrl: read.url('BERTH_RUN_URL', 'Where clients reach the job routers.', {
      protocols: HTTP,
      fallback: 'http://127.0.0.1:8001',
    }),
    loadBalancerDomain: readLoadBalancerDomain(read),
  };
  refuseUnderDomain(read, { BERTH_BASE_URL: baseUrl, BERTH_RUN_URL: addresses.runUrl }, addresses.loadBalancerDomain);
  return { httpHost, httpPort, operationsPort, baseUrl, addresses, docsUrl };
}

function readLoadBalancerDomain(read: ConfigReader): string {
  const meaning = 'Domain under which each load-balancing endpoint has its own name.';
  const domain = read.string('BERTH_LB_DOMAIN', meaning, 'localhost:8001');
  if (isEndpointDomain(domain)) return domain;
  read.problems.push('BERTH_LB_DOMAIN must be a domain, with or without a port, like lb.example.com or localhost:8001');
  return domain;
}

/** A client that asks there would reach an endpoint of that name, which is none. */
function refuseUnderDomain(read: ConfigReader, urls: Readonly<Record<string, string>>, domain: string): void {
  for (const [name, url] of Object.entries(urls)) {
    if (!URL.canParse(url) || endpointIdOfHost(new URL(url).host, domain) === null) continue;
    read.problems.push(`${name} must not lie under BERTH_LB_DOMAIN, where names are those of endpoints`);
  }
}

function quota(read: ConfigReader, span: 'minute' | 'hour' | 'day', fallback: number): number | null {
  const name = `BERTH_RATE_LIMIT_${span.toUpperCase()}`;
  const meaning = `Requests of an account each ${span}; \`off\`: as many as come.`;
  if (read.optional(name, meaning) === 'off') return null;
  return read.integer(name, meaning, { min: 1, max: REQUESTS_MAX, fallback, unit: 'requests' });
}

const readTopology = (read: ConfigReader): TopologySize => ({
  replicas:
    read.oneOf('BERTH_NATS_REPLICAS', 'Servers that hold each stream.', { choices: ['1', '3'], fallback: '1' }) === '3'
      ? 3
      : 1,
  storageBytes: read.integer('BERTH_NATS_STORAGE_BYTES', 'What the streams may take on disk.', STORAGE_BOUNDS),
  memoryBytes: read.integer('BERTH_NATS_MEMORY_BYTES', 'What the streams in memory may take.', MEMORY_BOUNDS),
});

function readJoining(read: ConfigReader): Pick<ManagementConfig, 'admission' | 'nodeJoin'> {
  const admission = readAdmission(read);
  const nodeJoin = readNodeJoin(read);
  if (nodeJoin !== null && admission === null)
    read.problems.push('BERTH_NODE_SERVICE_ACCOUNT needs BERTH_AUTH_SEED: nodes are let in by the auth callout');
  return { admission, nodeJoin };
}

function readAdmission(read: ConfigReader): AdmissionConfig | null {
  const calloutSeed = read.optional(
    'BERTH_AUTH_SEED',
    "nkey seed of the role `callout`, which lets agents in; without it somebody else answers the broker's auth callout.",
  );
  const issuers = read.optional(
    'BERTH_AUTH_ISSUER_SEED',
    'nkey seed of the account that signs the answers; of several, with commas between, the one that the asking broker ' +
      'trusts. Goes with `BERTH_AUTH_SEED`.',
  );
  if (calloutSeed !== null && issuers !== null) return { calloutSeed, issuerSeeds: seedsOf(issuers) };
  if (calloutSeed !== null || issuers !== null) {
    read.problems.push('BERTH_AUTH_SEED and BERTH_AUTH_ISSUER_SEED belong together: set both or neither');
  }
  return null;
}

function seedsOf(text: string): readonly [string, ...string[]] {
  const [first = '', ...others] = text
    .split(',')
    .map((seed) => seed.trim())
    .filter((seed) => seed !== '');
  return [first, ...others];
}
