import { parseConfig, systemRandom, type ConfigReader, type Environment } from '@berth/lifecycle';
import { readTrustedProxies, type TrustedProxies } from '@berth/http';
import type { NatsCredentials, TopologySize } from '@berth/messaging';
import { readSecretBox } from '@berth/secrets';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '@berth/telemetry';
import type { RouterSettings } from './platform.port.js';
import { WebhookAddresses } from './webhooks/webhook-addresses.service.js';

/** Where the broker is, and who one is to it. */
interface BrokerConfig {
  readonly natsUrl: string;
  readonly natsCredentials: NatsCredentials;
}

/** Settings of the router process. */
export interface RouterConfig extends RouterSettings, BrokerConfig {
  /** nkey seed of the role `gateway`, over which agents are heard; null: as everything else. */
  readonly agentsSeed: string | null;
  /** Agents are heard also where the broker does not keep hosts apart. */
  readonly isBrokerTrusted: boolean;
  /**
   * Where jobs lie: as records, or in the logs of their endpoints. For the suites that hold one beside the other, until the
   * logs have taken the records' place.
   */
  readonly topology: TopologySize;
  readonly httpHost: string;
  readonly httpPort: number;
  readonly operationsPort: number;
  /** Whose word on where callers are is believed. */
  readonly trustedProxies: TrustedProxies;
  /** Where clients reach the management API; null: nobody has said. */
  readonly baseUrl: string | null;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

const PORT_MAX = 65_535;
const HTTP_PORT_DEFAULT = 8_001;
const OPERATIONS_PORT_DEFAULT = 9_102;
const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
/** At most 6 TiB: beyond it a single broker is the wrong tool. */
const STORAGE_BOUNDS = { min: GIB, max: 6_144 * GIB, fallback: 16 * GIB };
const MEMORY_BOUNDS = { min: 16 * MIB, max: 64 * GIB, fallback: 256 * MIB };
const REQUESTS_PER_WORKER_BOUNDS = { min: 0, max: 100_000, fallback: 50 };
const ROUTER_ID_LENGTH = 8;
const ROUTER_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** @throws ConfigError naming every variable that is missing or wrong */
export const loadConfig = (environment: Environment = process.env): RouterConfig =>
  parseConfig(environment, (read) => {
    const routerId = read.string('BERTH_ROUTER_ID', `router-${systemRandom.id(ROUTER_ID_LENGTH)}`);
    if (!ROUTER_ID.test(routerId)) read.problems.push('BERTH_ROUTER_ID may hold letters, digits, "_" and "-" only');
    return {
      routerId,
      ...readBroker(read),
      agentsSeed: read.optional('BERTH_AGENTS_SEED'),
      isBrokerTrusted: read.oneOf('BERTH_TRUSTED_BROKER', ['on', 'off'], 'off') === 'on',
      topology: {
        replicas: read.oneOf('BERTH_NATS_REPLICAS', ['1', '3'], '1') === '3' ? 3 : 1,
        storageBytes: read.integer('BERTH_NATS_STORAGE_BYTES', STORAGE_BOUNDS),
        memoryBytes: read.integer('BERTH_NATS_MEMORY_BYTES', MEMORY_BOUNDS),
      },
      httpHost: read.string('BERTH_HTTP_HOST', '127.0.0.1'),
      httpPort: read.integer('BERTH_HTTP_PORT', { min: 0, max: PORT_MAX, fallback: HTTP_PORT_DEFAULT }),
      operationsPort: read.integer('BERTH_OPERATIONS_PORT', {
        min: 0,
        max: PORT_MAX,
        fallback: OPERATIONS_PORT_DEFAULT,
      }),
      trustedProxies: readTrustedProxies(read),
      baseUrl: read.optional('BERTH_BASE_URL') === null ? null : read.url('BERTH_BASE_URL', ['http:', 'https:']),
      docsUrl: read.string('BERTH_DOCS_URL', '/docs'),
      secrets: readSecretBox(read),
      webhookAddresses: readWebhookAddresses(read),
      rateLimits: {
        isOn: read.oneOf('BERTH_RATE_LIMITS', ['on', 'off'], 'on') === 'on',
        requestsPerWorker: read.integer('BERTH_REQUESTS_PER_WORKER', REQUESTS_PER_WORKER_BOUNDS),
      },
      streamFormat: read.oneOf('BERTH_STREAM_FORMAT', ['array', 'object'], 'array'),
      logLevel: read.oneOf('BERTH_LOG_LEVEL', LOG_LEVELS, 'info'),
      logFormat: read.oneOf('BERTH_LOG_FORMAT', LOG_FORMATS, 'auto'),
    };
  });

/**
 * Settings of the tool that reads endpoints' logs: those of the router, as far as it needs them.
 *
 * @throws ConfigError naming every variable that is missing or wrong
 */
export const loadLogConfig = (environment: Environment = process.env): BrokerConfig =>
  parseConfig(environment, readBroker);

function readBroker(read: ConfigReader): BrokerConfig {
  return {
    natsUrl: read.urls('BERTH_NATS_URL', ['nats:', 'tls:']),
    natsCredentials: credentialsOf({
      seed: read.optional('BERTH_NATS_SEED'),
      user: read.optional('BERTH_NATS_USER'),
      pass: read.optional('BERTH_NATS_PASSWORD'),
    }),
  };
}

const ALLOWED_NETWORKS = 'BERTH_WEBHOOK_ALLOWED_NETWORKS';

function readWebhookAddresses(read: ConfigReader): WebhookAddresses {
  const networks = (read.optional(ALLOWED_NETWORKS) ?? '').split(',').map((each) => each.trim());
  try {
    return new WebhookAddresses(networks.filter((each) => each !== ''));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    read.problems.push(`${ALLOWED_NETWORKS} must be networks like 10.0.0.0/8, separated by commas: ${error.message}`);
    return new WebhookAddresses();
  }
}

/** A seed where the broker knows our roles; user and password, or the address alone, where it is somebody else's. */
function credentialsOf(given: {
  readonly seed: string | null;
  readonly user: string | null;
  readonly pass: string | null;
}): NatsCredentials {
  if (given.seed !== null) return { kind: 'nkey', seed: given.seed };
  if (given.user !== null) return { kind: 'password', user: given.user, pass: given.pass ?? '' };
  return { kind: 'none' };
}
