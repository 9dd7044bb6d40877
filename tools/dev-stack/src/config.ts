import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError, parseConfig, type ConfigReader, type Environment } from '@berth/lifecycle';
import { LOG_LEVELS, readTraceSettings, type TraceSettings } from '@berth/telemetry';
import { SETTINGS, SETTINGS_OF_LATER, flagOf } from '../settings.mjs';
import { HOSTS_MAX, ROUTERS_MAX, type AppName } from './app-processes.js';
import { firstPortMax } from './stack-ports.js';
import { nearestName, unreadSettings } from './unread-settings.js';

/** What `npm start` was asked for. */
export interface StackConfig {
  /** Absolute; database, broker, logs, journal and `dev.json` live here. */
  readonly home: string;
  /** First port of a block of ten, or `auto`. */
  readonly ports: number | 'auto';
  /** How many job routers run; each further one has two ports behind the block. */
  readonly routers: number;
  /** How many worker agents run, each for a host of its own; each further one has two ports behind those of routers. */
  readonly hosts: number;
  readonly runtime: 'auto' | 'docker' | 'process';
  /** Absolute; folder of the `process` runtime's images. */
  readonly images: string;
  /** Null: the launcher runs its own. */
  readonly natsUrl: string | null;
  /** Agents are heard also where the broker at `natsUrl` does not keep hosts apart. */
  readonly trustedBroker: 'on' | 'off';
  readonly databaseUrl: string | null;
  /** Absolute; null: the shipped catalog. */
  readonly catalogFile: string | null;
  readonly simulatedGpus: string | null;
  readonly vcpus: number | null;
  readonly hasDemo: boolean;
  /** A path, or an address as `DOCKER_HOST` has it; null: `DOCKER_HOST`, or wherever an engine usually is. */
  readonly dockerSocket: string | null;
  /** Whether containers are started only where the agent can confine them. */
  readonly confinement: 'required' | 'optional';
  readonly logLevel: string;
  /** Of all its processes. */
  readonly tracing: TraceSettings;
  /** Of the job paths. */
  readonly rateLimits: 'on' | 'off';
  /** What was given for one of the processes alone; it says itself what is wrong with it. */
  readonly handedOn: Readonly<Record<string, string>>;
}

const FLAGS: Readonly<Record<string, string>> = Object.fromEntries(
  SETTINGS.map(({ variable }) => [flagOf(variable), variable]),
);
const OPTIONS = Object.fromEntries(Object.keys(FLAGS).map((flag) => [flag.slice(2), { type: 'string' }] as const));

/** Settings that one process alone reads, and describes; with what it gets from us where nobody says anything. */
export const HANDED_ON: Readonly<Record<string, { readonly app: AppName; readonly fallback?: string }>> = {
  BERTH_WORKER_BLOCKED_NETWORKS: { app: 'worker-agent' },
  BERTH_WORKER_ALLOWED_NETWORKS: { app: 'worker-agent' },
  BERTH_WORKER_NAME_SERVERS: { app: 'worker-agent' },
  BERTH_VOLUMES: { app: 'worker-agent' },
  BERTH_WORKER_LOG_MIB: { app: 'worker-agent' },
  BERTH_ACCOUNT_LOG_MIB: { app: 'worker-agent' },
  BERTH_LOG_HOURS: { app: 'worker-agent' },
  BERTH_REQUESTS_PER_WORKER: { app: 'job-router' },
  BERTH_LB_HOLD_MS: { app: 'job-router' },
  BERTH_LB_BODY_BYTES_MAX: { app: 'job-router' },
  // Who tries webhooks here receives them on the same machine.
  BERTH_WEBHOOK_ALLOWED_NETWORKS: { app: 'job-router', fallback: '127.0.0.0/8,::1/128' },
  BERTH_STREAM_FORMAT: { app: 'job-router' },
  // Nobody chooses among routers here, unless a test does, and what is stopped shall be gone.
  BERTH_DRAIN_DELAY_MS: { app: 'job-router', fallback: '0' },
  BERTH_RATE_LIMIT_MINUTE: { app: 'management-api' },
  BERTH_RATE_LIMIT_HOUR: { app: 'management-api' },
  BERTH_RATE_LIMIT_DAY: { app: 'management-api' },
  BERTH_HISTORY_RETENTION_DAYS: { app: 'controllers' },
};

const HOME = 'Folder of database, broker, logs, journal and `dev.json`; kept over restarts.';
const PORTS = 'First port of a block of ten, or `auto`.';
const ROUTERS =
  'Job routers; each but the first takes the next two ports behind the block, one for callers and one for operations.';
const HOSTS =
  'Worker agents, each with a home, two ports, vCPU and simulated GPUs of its own; as root and with `process`, each in a ' +
  'network namespace.';
const IMAGES = 'Where the `process` runtime finds `local/NAME`.';
const TRUSTED_BROKER =
  '`on`: hear agents also at a `BERTH_NATS_URL` that lets anyone in, or whose users may all say everything; then whoever ' +
  'reaches it can take and end every job.';
const CATALOG_FILE =
  'JSON file with hardware and prices of your own, laid over the shipped ones (`docs/hardware-catalog.md`).';
const SIMULATED_GPUS =
  'Pretend to have GPUs, marked as simulated: `NVIDIA GeForce RTX 4090:2:12.4`, with its GB at the end of one that is not shipped: `Tesla T4:2:12.4:16`.';
const DOCKER_SOCKET = 'Path or address of the container engine. Without it `DOCKER_HOST`, or wherever one usually is.';
const CONFINEMENT = '`required`: no container where the firewall cannot confine it.';
const PORT_MIN = 1_024;
const VCPUS_MAX = 4_096;

/**
 * Settings from the environment, over which the flags win. Relative paths are the caller's.
 *
 * @throws ConfigError naming every setting that cannot be used
 */
export function readStackConfig(
  args: readonly string[],
  options: { readonly folder: string; readonly repository: string; readonly environment?: Environment },
): StackConfig {
  const environment = { ...(options.environment ?? process.env), ...readFlags(args) };
  return parseConfig(environment, (read) => readStack(read, options));
}

/** @public Also read by `npm run settings`. */
export function readStack(
  read: ConfigReader,
  { folder, repository }: { readonly folder: string; readonly repository: string },
): StackConfig {
  return {
    home: resolve(folder, read.string('BERTH_HOME', HOME, join(repository, '.berth'))),
    ...readPlaces(read),
    runtime: read.oneOf('BERTH_RUNTIME', 'What workers run in; `auto`: whichever can be had.', {
      choices: ['auto', 'docker', 'process'],
      fallback: 'auto',
    }),
    images: resolve(folder, read.string('BERTH_IMAGES', IMAGES, join(repository, 'examples/workers'))),
    natsUrl: read.optionalUrl('BERTH_NATS_URL', 'Use this broker instead of its own server.', ['nats:', 'tls:']),
    trustedBroker: read.oneOf('BERTH_TRUSTED_BROKER', TRUSTED_BROKER, { choices: ['on', 'off'], fallback: 'off' }),
    databaseUrl: read.optionalUrl('BERTH_DATABASE_URL', 'Use this PostgreSQL instead of its own server.', [
      'postgres:',
      'postgresql:',
    ]),
    catalogFile: readCatalogFile(read, folder),
    simulatedGpus: read.optional('BERTH_SIMULATED_GPUS', SIMULATED_GPUS),
    vcpus: readVcpus(read),
    hasDemo:
      read.oneOf('BERTH_DEMO', '`off`: no sample endpoint, no first job.', {
        choices: ['on', 'off'],
        fallback: 'on',
      }) === 'on',
    dockerSocket: read.optional('BERTH_DOCKER_SOCKET', DOCKER_SOCKET),
    // People who try Berth run their own code, often without root or with an engine in a virtual machine.
    confinement: read.oneOf('BERTH_CONFINEMENT', CONFINEMENT, {
      choices: ['required', 'optional'],
      fallback: 'optional',
    }),
    logLevel: read.oneOf('BERTH_LOG_LEVEL', 'The least that is logged.', { choices: LOG_LEVELS, fallback: 'info' }),
    tracing: readTraceSettings(read),
    rateLimits: read.oneOf('BERTH_RATE_LIMITS', '`off`: job paths take as many requests as come.', {
      choices: ['on', 'off'],
      fallback: 'on',
    }),
    handedOn: readHandedOn(read),
  };
}

/**
 * Whether `npm start` of this repository is what began this process: then it ends with npm, as if they were one. Who runs
 * the launcher directly may leave.
 */
export const isStartedByNpm = (repository: string, environment: Environment = process.env): boolean =>
  environment['npm_lifecycle_event'] === 'start' &&
  environment['npm_package_json'] === resolve(repository, 'package.json');

/** What was set for Berth and has no effect, a sentence for each. */
export const ineffectiveSettings = (environment: Environment = process.env): readonly string[] =>
  unreadSettings(Object.keys(environment).filter((name) => (environment[name] ?? '') !== ''));

/** Not ours to interpret, and not secret: what a child needs to find programs, caches and certificates. */
export function inheritedEnvironment(environment: Environment = process.env): Record<string, string> {
  const isKept = (name: string): boolean => !name.startsWith('BERTH_') && !name.startsWith('npm_');
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && isKept(entry[0]),
    ),
  );
}

/** What says where a container engine is: the engine's own client reads the same. */
export function engineSettings(environment: Environment = process.env): Environment {
  const names = ['DOCKER_HOST', 'DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH', 'XDG_RUNTIME_DIR', 'HOME'];
  return Object.fromEntries(names.map((name) => [name, environment[name]]));
}

function readFlags(args: readonly string[]): Record<string, string> {
  // Not strict, because a word that is no flag gets an answer of ours, with the flag that may be meant.
  const { tokens } = parseArgs({ args: [...args], options: OPTIONS, strict: false, tokens: true });
  const found: Record<string, string> = {};
  for (const token of tokens) {
    const [flag = ''] = (args[token.index] ?? '').split('=', 1);
    const variable = FLAGS[flag];
    if (token.kind !== 'option' || variable === undefined) throw new ConfigError([whyNoFlag(flag)]);
    if (token.value === undefined) throw new ConfigError([`${flag} needs a value`]);
    found[variable] = token.value;
  }
  return found;
}

function whyNoFlag(word: string): string {
  if (SETTINGS_OF_LATER.map(flagOf).includes(word)) return `${word} is not supported yet`;
  const nearest = nearestName(word, Object.keys(FLAGS));
  return `${word} is not a flag${nearest === null ? '' : `; did you mean ${nearest}?`} --help lists them all`;
}

function readHandedOn(read: ConfigReader): Readonly<Record<string, string>> {
  const given = Object.entries(HANDED_ON).map(
    ([variable, { app }]) => [variable, read.optional(variable, `Handed on to ${app}.`)] as const,
  );
  return Object.fromEntries(given.filter((entry): entry is [string, string] => entry[1] !== null));
}

function readCatalogFile(read: ConfigReader, folder: string): string | null {
  const path = read.optional('BERTH_CATALOG_FILE', CATALOG_FILE);
  return path === null ? null : resolve(folder, path);
}

function readPlaces(read: ConfigReader): Pick<StackConfig, 'ports' | 'routers' | 'hosts'> {
  const routers = read.integer('BERTH_ROUTERS', ROUTERS, { min: 1, max: ROUTERS_MAX, fallback: 1 });
  const hosts = read.integer('BERTH_HOSTS', HOSTS, { min: 1, max: HOSTS_MAX, fallback: 1 });
  if (read.optional('BERTH_PORTS', PORTS) === 'auto') return { ports: 'auto', routers, hosts };
  const bounds = { min: PORT_MIN, max: firstPortMax({ routers, hosts }), fallback: 8_000 };
  return { ports: read.integer('BERTH_PORTS', PORTS, bounds), routers, hosts };
}

function readVcpus(read: ConfigReader): number | null {
  const meaning = `vCPU that this host reports, 1 to ${VCPUS_MAX}. Without it 8 for each core, and at least 64.`;
  const isGiven = read.optional('BERTH_VCPUS', meaning) !== null;
  return isGiven ? read.integer('BERTH_VCPUS', meaning, { min: 1, max: VCPUS_MAX, fallback: 1 }) : null;
}
