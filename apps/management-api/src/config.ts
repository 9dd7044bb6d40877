import { readTrustedProxies, type TrustedProxies } from '@berth/http';
import { parseConfig, type ConfigReader, type Environment } from '@berth/lifecycle';
import { readSecretBox, type SecretBox } from '@berth/secrets';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '@berth/telemetry';
import type { PublicAddresses } from '@berth/domain';
import type { TopologySize } from '@berth/messaging';
import type { RateQuotas } from './rate-limits/rate-windows.port.js';

/** How agents are let in by the broker's auth callout. */
interface AdmissionConfig {
  /** nkey seed of the role `callout`. */
  readonly calloutSeed: string;
  /** nkey seed of the account that signs the answers. */
  readonly issuerSeed: string;
}

/** Settings of the management API. */
export interface ManagementConfig {
  readonly natsUrl: string;
  /** nkey seed of the role `management`; null: the address carries its credentials. */
  readonly natsSeed: string | null;
  /** nkey seed of the role `sessions`, over which agents are heard; null: as `natsSeed`. */
  readonly agentsSeed: string | null;
  /** nkey seed of the role `system`, which ends connections; null: nobody does. */
  readonly systemSeed: string | null;
  /** Agents are heard also where the broker does not keep hosts apart. */
  readonly isBrokerTrusted: boolean;
  /** Account of the broker that agents are put into. */
  readonly agentAccount: string;
  /** Null: somebody else answers the callout, or there is none. */
  readonly admission: AdmissionConfig | null;
  readonly topology: TopologySize;
  readonly databaseUrl: string;
  /** Seals what tenants entrust to us before it goes into the database. */
  readonly secrets: SecretBox;
  /** Requests of each account. */
  readonly rateQuotas: RateQuotas;
  readonly httpHost: string;
  readonly httpPort: number;
  readonly operationsPort: number;
  /** Whose word on where callers are is believed. */
  readonly trustedProxies: TrustedProxies;
  /** Where clients reach this API. */
  readonly baseUrl: string;
  /** Where clients reach the job router. */
  readonly addresses: PublicAddresses;
  /** Problem pages are at `{docsUrl}/problems/<code>`. */
  readonly docsUrl: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** Settings of the task that prepares the database. */
export interface MigrateConfig {
  readonly databaseUrl: string;
  /** Whole key of the account `default`; null: no account is made. */
  readonly seedApiKey: string | null;
}

const PORT_MAX = 65_535;
const HTTP_PORT_DEFAULT = 8_000;
const OPERATIONS_PORT_DEFAULT = 9_100;
const REQUESTS_PER_MINUTE = 60;
const REQUESTS_PER_HOUR = 3_000;
const REQUESTS_PER_DAY = 50_000;
const REQUESTS_MAX = 1_000_000_000;
const GIB = 1_024 ** 3;
const MIB = 1_024 ** 2;
const STORAGE_DEFAULT_BYTES = 4 * GIB;
const MEMORY_DEFAULT_BYTES = 64 * MIB;
const POSTGRES = ['postgres:', 'postgresql:'];
const HTTP = ['http:', 'https:'];

/** @throws ConfigError naming every variable that is missing or wrong */
export const loadConfig = (environment: Environment = process.env): ManagementConfig =>
  parseConfig(environment, (read) => {
    const httpPort = port(read, 'BERTH_HTTP_PORT', HTTP_PORT_DEFAULT);
    const baseUrl = read.url('BERTH_BASE_URL', HTTP, `http://127.0.0.1:${httpPort}`);
    return {
      natsUrl: read.urls('BERTH_NATS_URL', ['nats:', 'tls:']),
      natsSeed: read.optional('BERTH_NATS_SEED'),
      agentsSeed: read.optional('BERTH_AGENTS_SEED'),
      systemSeed: read.optional('BERTH_SYSTEM_SEED'),
      isBrokerTrusted: read.oneOf('BERTH_TRUSTED_BROKER', ['on', 'off'], 'off') === 'on',
      agentAccount: read.string('BERTH_AUTH_ACCOUNT', 'APP'),
      admission: readAdmission(read),
      topology: readTopology(read),
      databaseUrl: read.url('BERTH_DATABASE_URL', POSTGRES),
      secrets: readSecretBox(read),
      rateQuotas: {
        minute: quota(read, 'BERTH_RATE_LIMIT_MINUTE', REQUESTS_PER_MINUTE),
        hour: quota(read, 'BERTH_RATE_LIMIT_HOUR', REQUESTS_PER_HOUR),
        day: quota(read, 'BERTH_RATE_LIMIT_DAY', REQUESTS_PER_DAY),
      },
      httpHost: read.string('BERTH_HTTP_HOST', '127.0.0.1'),
      httpPort,
      operationsPort: port(read, 'BERTH_OPERATIONS_PORT', OPERATIONS_PORT_DEFAULT),
      trustedProxies: readTrustedProxies(read),
      baseUrl,
      addresses: {
        runUrl: read.url('BERTH_RUN_URL', HTTP, 'http://127.0.0.1:8001'),
        loadBalancerDomain: read.string('BERTH_LB_DOMAIN', 'localhost:8001'),
      },
      docsUrl: read.url('BERTH_DOCS_URL', HTTP, `${baseUrl}/docs`),
      logLevel: read.oneOf('BERTH_LOG_LEVEL', LOG_LEVELS, 'info'),
      logFormat: read.oneOf('BERTH_LOG_FORMAT', LOG_FORMATS, 'auto'),
    };
  });

/** @throws ConfigError naming every variable that is missing or wrong */
export const loadMigrateConfig = (environment: Environment = process.env): MigrateConfig =>
  parseConfig(environment, (read) => ({
    databaseUrl: read.url('BERTH_DATABASE_URL', POSTGRES),
    seedApiKey: read.optional('BERTH_SEED_API_KEY'),
  }));

const port = (read: ConfigReader, name: string, fallback: number): number =>
  read.integer(name, { min: 0, max: PORT_MAX, fallback });

/** `off`: as many as come. */
const quota = (read: ConfigReader, name: string, fallback: number): number | null =>
  read.optional(name) === 'off' ? null : read.integer(name, { min: 1, max: REQUESTS_MAX, fallback });

const readTopology = (read: ConfigReader): TopologySize => ({
  replicas: read.oneOf('BERTH_NATS_REPLICAS', ['1', '3'], '1') === '3' ? 3 : 1,
  storageBytes: read.integer('BERTH_NATS_STORAGE_BYTES', {
    min: MIB,
    max: Number.MAX_SAFE_INTEGER,
    fallback: STORAGE_DEFAULT_BYTES,
  }),
  memoryBytes: read.integer('BERTH_NATS_MEMORY_BYTES', {
    min: MIB,
    max: Number.MAX_SAFE_INTEGER,
    fallback: MEMORY_DEFAULT_BYTES,
  }),
});

function readAdmission(read: ConfigReader): AdmissionConfig | null {
  const calloutSeed = read.optional('BERTH_AUTH_SEED');
  const issuerSeed = read.optional('BERTH_AUTH_ISSUER_SEED');
  if (calloutSeed !== null && issuerSeed !== null) return { calloutSeed, issuerSeed };
  if (calloutSeed !== null || issuerSeed !== null) {
    read.problems.push('BERTH_AUTH_SEED and BERTH_AUTH_ISSUER_SEED belong together: set both or neither');
  }
  return null;
}
