import { PORT_MAX, GIB, MIB, isEndpointDomain, endpointIdOfHost } from '@berth/domain';
import { parseConfig, systemRandom, type ConfigReader, type Environment } from '@berth/lifecycle';
import { HTTP_DRAIN_MS, readDrainDelay, readTrustedProxies, type TrustedProxies } from '@berth/http';
import type { NatsCredentials, TopologySize } from '@berth/messaging';
import { readSecretBox } from '@berth/secrets';
import { readLogSettings, readTraceSettings, type LogSettings, type TraceSettings } from '@berth/telemetry';
import { type RouterSettings, WebhookAddresses } from './platform/index.js';
import type { TunnelSettings } from './tunnels/index.js';

/** Settings of the router process. */
export interface RouterConfig extends RouterSettings, LogSettings {
  readonly natsUrl: string;
  readonly natsCredentials: NatsCredentials;
  /** nkey seed of the role `gateway`, over which agents are heard; null: as everything else. */
  readonly agentsSeed: string | null;
  /** Agents are heard also where the broker does not keep hosts apart. */
  readonly isBrokerTrusted: boolean;
  /** Of the streams and buckets that it makes: replicas, storage and room. */
  readonly topology: TopologySize;
  readonly httpHost: string;
  readonly httpPort: number;
  readonly operationsPort: number;
  /** How long connections are still accepted once the process stops. */
  readonly drainDelayMs: number;
  /** How long after that requests in flight may still take. */
  readonly drainMs: number;
  readonly tunnel: TunnelSettings;
  readonly tracing: TraceSettings;
  /** Whose word on where callers are is believed. */
  readonly trustedProxies: TrustedProxies;
  /** Where clients reach the management API; null: nobody has said. */
  readonly baseUrl: string | null;
}

const HTTP_PORT_DEFAULT = 8_001;
const OPERATIONS_PORT_DEFAULT = 9_102;
/** At most 6 TiB: beyond it a single broker is the wrong tool. */
const STORAGE_BOUNDS = { min: GIB, max: 6_144 * GIB, fallback: 16 * GIB, unit: 'bytes' };
const MEMORY_BOUNDS = { min: 16 * MIB, max: 64 * GIB, fallback: 256 * MIB, unit: 'bytes' };
const REQUESTS_PER_WORKER_BOUNDS = { min: 0, max: 100_000, fallback: 50, unit: 'requests' };
const DRAIN =
  'How long after that requests in flight may still take, those that wait for a load-balanced worker too. Whoever stops the ' +
  'process must give it both times and 15 s.';
const DRAIN_BOUNDS = { min: 1_000, max: 3_600_000, fallback: HTTP_DRAIN_MS, unit: 'ms' };
const HOLD_BOUNDS = { min: 0, max: 600_000, fallback: 120_000, unit: 'ms' };
const LB_LOGGED_BOUNDS = { min: 0, max: 1_000, fallback: 10, unit: 'requests' };
const LB_BODY_BOUNDS = { min: 0, max: 64 * GIB, fallback: 30_000_000, unit: 'bytes' };
const TRUSTED_BROKER =
  '`on`: hear agents also at a broker that lets anyone in, or whose users may all say everything; then whoever reaches it ' +
  'can take and end every job.';
const RATE_LIMITS = '`off`: the job paths take as many requests as come.';
const REQUESTS_PER_WORKER = 'Job requests within 10 s that each ready worker adds to what an endpoint takes.';
const ROUTER_ID_LENGTH = 8;
const ROUTER_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** @throws ConfigError naming every variable that is missing or wrong */
export const loadConfig = (environment: Environment = process.env): RouterConfig =>
  parseConfig(environment, readRouterConfig);

/** @public Also read by `npm run settings`. */
export function readRouterConfig(read: ConfigReader): RouterConfig {
  const config: RouterConfig = {
    routerId: readRouterId(read),
    ...readBroker(read),
    agentsSeed: read.optional(
      'BERTH_AGENTS_SEED',
      'nkey seed of the role `gateway`, over which agents are heard; without it, as everything else.',
    ),
    isBrokerTrusted:
      read.oneOf('BERTH_TRUSTED_BROKER', TRUSTED_BROKER, { choices: ['on', 'off'], fallback: 'off' }) === 'on',
    topology: readTopology(read),
    ...readAddresses(read),
    tunnel: readTunnel(read),
    trustedProxies: readTrustedProxies(read),
    drainDelayMs: readDrainDelay(read),
    drainMs: read.integer('BERTH_DRAIN_MS', DRAIN, DRAIN_BOUNDS),
    secrets: readSecretBox(read),
    webhookAddresses: readWebhookAddresses(read),
    rateLimits: readRateLimits(read),
    loadBalancer: readLoadBalancer(read),
    streamFormat: read.oneOf('BERTH_STREAM_FORMAT', 'How `/stream` answers.', {
      choices: ['array', 'object'],
      fallback: 'array',
    }),
    ...readLogSettings(read),
    tracing: readTraceSettings(read),
  };
  const { baseUrl, loadBalancer } = config;
  // A client that asks there would reach an endpoint of that name, which is none.
  const host = URL.canParse(baseUrl ?? '') ? new URL(baseUrl ?? '').host : undefined;
  if (endpointIdOfHost(host, loadBalancer.domain) !== null) {
    read.problems.push('BERTH_BASE_URL must not lie under BERTH_LB_DOMAIN, where names are those of endpoints');
  }
  return config;
}

function readRouterId(read: ConfigReader): string {
  const meaning = 'Name of this router among all: letters, digits, `_`, `-`. Without it, another one at each start.';
  const routerId = read.optional('BERTH_ROUTER_ID', meaning) ?? `router-${systemRandom.id(ROUTER_ID_LENGTH)}`;
  if (!ROUTER_ID.test(routerId)) read.problems.push('BERTH_ROUTER_ID may hold letters, digits, "_" and "-" only');
  return routerId;
}

function readBroker(read: ConfigReader): Pick<RouterConfig, 'natsUrl' | 'natsCredentials'> {
  return {
    natsUrl: read.urls('BERTH_NATS_URL', 'The broker.', { protocols: ['nats:', 'tls:'] }),
    natsCredentials: credentialsOf({
      seed: read.optional('BERTH_NATS_SEED', 'nkey seed of the role `router`, where the broker knows our roles.'),
      user: read.optional('BERTH_NATS_USER', "User at somebody else's broker; with a seed it is not looked at."),
      pass: read.optional('BERTH_NATS_PASSWORD', 'Password of this user.'),
    }),
  };
}

const readTopology = (read: ConfigReader): TopologySize => ({
  replicas:
    read.oneOf('BERTH_NATS_REPLICAS', 'Servers that hold each stream.', { choices: ['1', '3'], fallback: '1' }) === '3'
      ? 3
      : 1,
  storageBytes: read.integer('BERTH_NATS_STORAGE_BYTES', 'What the streams may take on disk.', STORAGE_BOUNDS),
  memoryBytes: read.integer('BERTH_NATS_MEMORY_BYTES', 'What the streams in memory may take.', MEMORY_BOUNDS),
});

function readAddresses(
  read: ConfigReader,
): Pick<RouterConfig, 'httpHost' | 'httpPort' | 'operationsPort' | 'baseUrl' | 'docsUrl'> {
  const port = { min: 0, max: PORT_MAX };
  return {
    httpHost: read.string('BERTH_HTTP_HOST', 'Address that it listens at.', '127.0.0.1'),
    httpPort: read.integer('BERTH_HTTP_PORT', 'Port for callers.', { ...port, fallback: HTTP_PORT_DEFAULT }),
    operationsPort: read.integer('BERTH_OPERATIONS_PORT', 'Port for health and metrics.', {
      ...port,
      fallback: OPERATIONS_PORT_DEFAULT,
    }),
    baseUrl: read.optionalUrl('BERTH_BASE_URL', 'Where clients reach the management API.', ['http:', 'https:']),
    docsUrl: read.string('BERTH_DOCS_URL', 'Problem pages are at `/problems/CODE` under it.', '/docs'),
  };
}

const TUNNEL_ADDRESS = 'BERTH_TUNNEL_ADDRESS';
const TUNNEL_ADDRESS_MEANING =
  'Host and port under which worker hosts reach the tunnel port, as `router.example.com:8443`; without it, where it listens.';

function readTunnel(read: ConfigReader): TunnelSettings {
  const bounds = { min: 0, max: PORT_MAX, fallback: 0 };
  const listenHost = read.string(
    'BERTH_TUNNEL_HOST',
    'Address that it listens at for tunnels of worker hosts.',
    '127.0.0.1',
  );
  const port = read.integer(
    'BERTH_TUNNEL_PORT',
    'Port for tunnels of worker hosts, who are told; `0`: any that is free.',
    bounds,
  );
  const address = read.optional(TUNNEL_ADDRESS, TUNNEL_ADDRESS_MEANING);
  return { listenHost, port, advertised: address === null ? null : readAddress(read, address) };
}

function readAddress(read: ConfigReader, text: string): TunnelSettings['advertised'] {
  const [, host = '', port = ''] = /^\[?([^\s/[\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (Number(port) >= 1 && Number(port) <= PORT_MAX) return { host, port: Number(port) };
  read.problems.push(`${TUNNEL_ADDRESS} must be a host and a port, like router.example.com:8443`);
  return null;
}

const readRateLimits = (read: ConfigReader): RouterConfig['rateLimits'] => ({
  isOn: read.oneOf('BERTH_RATE_LIMITS', RATE_LIMITS, { choices: ['on', 'off'], fallback: 'on' }) === 'on',
  requestsPerWorker: read.integer('BERTH_REQUESTS_PER_WORKER', REQUESTS_PER_WORKER, REQUESTS_PER_WORKER_BOUNDS),
});

const readLoadBalancer = (read: ConfigReader): RouterConfig['loadBalancer'] => ({
  domain: readLoadBalancerDomain(read),
  holdMs: read.integer('BERTH_LB_HOLD_MS', 'How long a request waits for a worker of its endpoint.', HOLD_BOUNDS),
  bodyBytesMax: read.integer(
    'BERTH_LB_BODY_BYTES_MAX',
    'The largest body of a request to a load-balancing endpoint.',
    LB_BODY_BOUNDS,
  ),
  loggedPermille: read.integer(
    'BERTH_LB_LOGGED_PERMILLE',
    'Of 1,000 requests to load-balancing endpoints that the router did not fail itself, as many are logged.',
    LB_LOGGED_BOUNDS,
  ),
});

function readLoadBalancerDomain(read: ConfigReader): string {
  const meaning = 'Domain under which each load-balancing endpoint has its own name.';
  const domain = read.string('BERTH_LB_DOMAIN', meaning, 'localhost:8001');
  if (isEndpointDomain(domain)) return domain;
  read.problems.push('BERTH_LB_DOMAIN must be a domain, with or without a port, like lb.example.com or localhost:8001');
  return domain;
}

const ALLOWED_NETWORKS = 'BERTH_WEBHOOK_ALLOWED_NETWORKS';
const ALLOWED_NETWORKS_MEANING = 'Private networks that webhooks may go to, with commas between.';

function readWebhookAddresses(read: ConfigReader): WebhookAddresses {
  const networks = (read.optional(ALLOWED_NETWORKS, ALLOWED_NETWORKS_MEANING) ?? '')
    .split(',')
    .map((each) => each.trim());
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
