import { isIPv4 } from 'node:net';
import { join, resolve } from 'node:path';
import { GIB, MIB, PORT_MAX, type SpoolBounds } from '@berth/domain';
import { parseConfig, type ConfigReader, type Environment } from '@berth/lifecycle';
import { readLogSettings, readTraceSettings, type LogSettings, type TraceSettings } from '@berth/telemetry';
import { BRIDGE_BODY_MAX_BYTES, type BodyBounds } from './bridge/index.js';
import { DEFAULT_WORKER_SHARE } from './job-client/index.js';
import {
  type RuntimeBridge,
  type MachineGpus,
  parseSimulatedGpus,
  type Reserve,
  type RuntimeConfig,
  RUNTIMES,
  runtimeOf,
} from './runtimes/index.js';
import type { TokenPlace } from './session/index.js';

/** Settings of the worker agent. */
export interface AgentConfig extends LogSettings {
  readonly tracing: TraceSettings;
  readonly natsUrl: string;
  /** Identity, journal and, with the process runtime, the workers' folders. One agent has it to itself. */
  readonly home: string;
  /** Needed once, until the host has joined. */
  readonly joinToken: TokenPlace;
  readonly runtime: RuntimeConfig;
  /** Null: what the machine has. */
  readonly simulatedGpus: MachineGpus | null;
  readonly vcpus: number | null;
  readonly reserve: Reserve;
  readonly bridge: BridgeConfig;
  readonly bodies: BodyBounds;
  readonly spool: SpoolConfig;
  /** Absolute; null: this host keeps no network volumes. */
  readonly volumesFolder: string | null;
  /** Of what workers print and what is said of them, on the disk. */
  readonly logs: SpoolBounds;
  /** True: workers go on when the agent stops, and its next life finds them again. False: they leave with it. */
  readonly keepsWorkers: boolean;
  /** Dialled for tunnels in place of the host that a router names; null: that one. */
  readonly tunnelVia: string | null;
  readonly operationsHost: string;
  readonly operationsPort: number;
}

interface BridgeConfig {
  /** Null with containers: the host's address in their network. */
  readonly listenHost: string | null;
  /** 0: the one of the last start, or any free one. */
  readonly port: number;
  /** Name or address under which workers reach it. */
  readonly advertisedHost: string;
}

/** The room that the journal may take on the disk for large results and chunks that no router has taken yet. */
interface SpoolConfig {
  readonly bytesMax: number;
  /** Of it, what one worker may have; and of what lies in the agent's memory, for those that are small. */
  readonly workerBytesMax: number;
  readonly workerMemoryBytesMax: number;
}

/** Two of the largest bodies for each worker, and a dozen for all of them. */
const WORKER_BODIES_DEFAULT_BYTES = 2 * BRIDGE_BODY_MAX_BYTES;
const HOST_BODIES_DEFAULT_BYTES = 512 * 2 ** 20;
const BODIES_MAX_BYTES = 2 ** 40;
const SPOOL_DEFAULT_MIB = 4_096;
const SPOOL_BOUNDS_MIB = { min: 256, max: 2 ** 20, unit: 'MiB' };
/** Two results of the largest size, so that one can be made while the other is on its way. */
const WORKER_SPOOL_MIN_MIB = 40;
const WORKER_MEMORY_BOUNDS_MIB = { min: 1, max: 64, unit: 'MiB' };
const LOG_BOUNDS_MIB = { min: 1, max: 2 ** 20, unit: 'MiB' };
const WORKER_LOG_MIB = 16;
const ACCOUNT_LOG_MIB = 512;
/** Ninety days, as the hosted original keeps them; above that nobody knows any more where a worker was. */
const LOG_BOUNDS_HOURS = { min: 1, max: 90 * 24, unit: 'hours' };
const LOG_HOURS = 7 * 24;
const HOUR_MS = 3_600_000;
const VCPUS_MAX = 65_536;
const RESERVED_MEMORY_BOUNDS_MIB = { min: 0, max: 2 ** 24, unit: 'MiB' };
const RESERVED_DISK_BOUNDS_GIB = { min: 0, max: 2 ** 20, unit: 'GiB' };
const OPERATIONS_PORT_DEFAULT = 9_103;

const KEEP_WORKERS =
  '`true`: workers go on when the agent stops, and its next life finds them again; `false`: they leave with it.';
const SPOOL = 'What the journal may take on disk for large results and chunks that no router has taken yet.';
const WORKER_SPOOL = 'Of it, what one worker may have; at most half.';
const WORKER_MEMORY = "What one worker may have of the agent's memory, for results and chunks that are small.";
const TUNNEL_VIA =
  'Name or address at which this host reaches every router, dialled for tunnels in place of the one that a router names.';
const VOLUMES =
  'Folder that network volumes lie in, on this host or where a share is mounted, which must be there. Without it no ' +
  'worker with a volume comes here.';
const WORKER_LOG = 'What is kept on disk of the log of one worker; the oldest of it goes first.';
const ACCOUNT_LOG = 'The same, of the logs of all workers of one account on this host.';
const LOG_AGE = 'How long a line of a log is kept, at most.';
const SIMULATED_GPUS =
  'GPUs to report that are not there, marked as simulated: `NVIDIA GeForce RTX 4090:2:12.4`, with its GB at the end of one that is not shipped: `Tesla T4:2:12.4:16`.';

/** @throws ConfigError naming every variable that is missing or wrong */
export const loadAgentConfig = (environment: Environment = process.env): AgentConfig =>
  parseConfig(environment, (read) => readAgentConfig(read, environment));

/**
 * @public Also read by `npm run settings`.
 * @param environment what workers and their setup lines get a part of
 */
export function readAgentConfig(read: ConfigReader, environment: Environment): AgentConfig {
  const kind = read.oneOf('BERTH_RUNTIME', 'What workers run in.', {
    choices: RUNTIMES.map((runtime) => runtime.kind),
    fallback: RUNTIMES[0].kind,
  });
  const runtime = runtimeOf(kind);
  const home = 'Folder of its identity and journal and, with `process`, of the workers. No two agents may share one.';
  return {
    natsUrl: read.urls('BERTH_NATS_URL', 'The broker.', { protocols: ['nats:', 'tls:'] }),
    home: resolve(read.string('BERTH_HOME', home, join('.berth', 'worker-agent'))),
    joinToken: readTokenPlace(read),
    runtime: runtime.readConfig(read, environment),
    simulatedGpus: readSimulatedGpus(read),
    vcpus: readVcpus(read),
    reserve: readReserve(read),
    bridge: readBridge(read, runtime.bridge),
    bodies: readBodyBounds(read),
    spool: readSpool(read),
    volumesFolder: readVolumesFolder(read),
    logs: readLogBounds(read),
    keepsWorkers:
      read.oneOf('BERTH_KEEP_WORKERS', KEEP_WORKERS, { choices: ['true', 'false'], fallback: 'true' }) === 'true',
    tunnelVia: read.optional('BERTH_TUNNEL_VIA', TUNNEL_VIA),
    operationsHost: read.string('BERTH_HTTP_HOST', 'Address that health and metrics are at.', '127.0.0.1'),
    operationsPort: read.integer('BERTH_OPERATIONS_PORT', 'Port for health and metrics.', {
      min: 0,
      max: PORT_MAX,
      fallback: OPERATIONS_PORT_DEFAULT,
    }),
    ...readLogSettings(read),
    tracing: readTraceSettings(read),
  };
}

function readTokenPlace(read: ConfigReader): TokenPlace {
  const token = read.optional('BERTH_JOIN_TOKEN', 'Token of its host; needed once, until the host has joined.');
  const file = read.optional(
    'BERTH_JOIN_TOKEN_FILE',
    'In its place: file with the token, which may be that of the service account of its Pod (`docs/kubernetes.md`).',
  );
  if (token !== null && file !== null)
    read.problems.push('BERTH_JOIN_TOKEN and BERTH_JOIN_TOKEN_FILE: set one of them');
  return { token, file };
}

function readBridge(read: ConfigReader, usual: RuntimeBridge): BridgeConfig {
  const listenHost = read.optional(
    'BERTH_BRIDGE_LISTEN',
    "One IPv4 address that it serves workers at. With containers this machine's in their network, else `127.0.0.1`.",
  );
  if (listenHost !== null && !isOneAddress(listenHost)) {
    read.problems.push(`BERTH_BRIDGE_LISTEN must be one address of this machine, not "${listenHost}"`);
  }
  const port = 'Port that it serves workers at; `0`: the one of the last start, or any free one.';
  const host = 'Name or address under which workers reach it.';
  return {
    listenHost: listenHost ?? usual.listenHost,
    port: read.integer('BERTH_BRIDGE_PORT', port, { min: 0, max: PORT_MAX, fallback: 0 }),
    advertisedHost: read.string('BERTH_BRIDGE_HOST', host, usual.host),
  };
}

/** An IPv4 address, and not the one that stands for all: the bridge is for this host's workers only. */
const isOneAddress = (text: string): boolean => isIPv4(text) && text !== '0.0.0.0';

/** Both let the largest body in, or it would wait for ever. */
function readBodyBounds(read: ConfigReader): BodyBounds {
  const bounds = { min: BRIDGE_BODY_MAX_BYTES, max: BODIES_MAX_BYTES, unit: 'bytes' };
  const ofWorker = 'Bodies that one worker may be sending at a time, together.';
  const ofHost = 'Bodies that all workers may be sending at a time, together.';
  return {
    workerBytesMax: read.integer('BERTH_BRIDGE_WORKER_BODY_BYTES', ofWorker, {
      ...bounds,
      fallback: WORKER_BODIES_DEFAULT_BYTES,
    }),
    hostBytesMax: read.integer('BERTH_BRIDGE_BODY_BYTES', ofHost, { ...bounds, fallback: HOST_BODIES_DEFAULT_BYTES }),
  };
}

function readSpool(read: ConfigReader): SpoolConfig {
  const mib = read.integer('BERTH_SPOOL_MIB', SPOOL, { ...SPOOL_BOUNDS_MIB, fallback: SPOOL_DEFAULT_MIB });
  const workerMib = read.integer('BERTH_WORKER_SPOOL_MIB', WORKER_SPOOL, {
    ...SPOOL_BOUNDS_MIB,
    min: WORKER_SPOOL_MIN_MIB,
    fallback: DEFAULT_WORKER_SHARE.fileBytesMax / MIB,
  });
  const memoryMib = read.integer('BERTH_WORKER_SPOOL_MEMORY_MIB', WORKER_MEMORY, {
    ...WORKER_MEMORY_BOUNDS_MIB,
    fallback: DEFAULT_WORKER_SHARE.memoryBytesMax / MIB,
  });
  if (workerMib > mib / 2) read.problems.push('BERTH_WORKER_SPOOL_MIB must be at most half of BERTH_SPOOL_MIB');
  return { bytesMax: mib * MIB, workerBytesMax: workerMib * MIB, workerMemoryBytesMax: memoryMib * MIB };
}

function readVolumesFolder(read: ConfigReader): string | null {
  const folder = read.optional('BERTH_VOLUMES', VOLUMES);
  return folder === null ? null : resolve(folder);
}

function readLogBounds(read: ConfigReader): SpoolBounds {
  const workerMib = read.integer('BERTH_WORKER_LOG_MIB', WORKER_LOG, { ...LOG_BOUNDS_MIB, fallback: WORKER_LOG_MIB });
  const accountMib = read.integer('BERTH_ACCOUNT_LOG_MIB', ACCOUNT_LOG, {
    ...LOG_BOUNDS_MIB,
    fallback: ACCOUNT_LOG_MIB,
  });
  const hours = read.integer('BERTH_LOG_HOURS', LOG_AGE, { ...LOG_BOUNDS_HOURS, fallback: LOG_HOURS });
  if (workerMib > accountMib) read.problems.push('BERTH_WORKER_LOG_MIB must be at most BERTH_ACCOUNT_LOG_MIB');
  return { workerBytesMax: workerMib * MIB, accountBytesMax: accountMib * MIB, ageMaxMs: hours * HOUR_MS };
}

function readSimulatedGpus(read: ConfigReader): MachineGpus | null {
  const text = read.optional('BERTH_SIMULATED_GPUS', SIMULATED_GPUS);
  if (text === null) return null;
  const reading = parseSimulatedGpus(text);
  if (reading.kind === 'gpus') return { gpus: reading.gpus, cudaVersion: reading.cudaVersion };
  read.problems.push(`BERTH_SIMULATED_GPUS cannot be used: ${reading.detail}`);
  return null;
}

function readVcpus(read: ConfigReader): number | null {
  const vcpus = read.integer('BERTH_VCPUS', 'vCPU that this host reports; `0`: what the machine has.', {
    min: 0,
    max: VCPUS_MAX,
    fallback: 0,
  });
  return vcpus === 0 ? null : vcpus;
}

function readReserve(read: ConfigReader): Reserve {
  const memoryMib = readIfGiven(read, 'BERTH_RESERVED_MEMORY_MIB', {
    meaning: 'Memory that no worker gets. Without it 5 %, and at least 512 MiB, but no more than an eighth.',
    bounds: RESERVED_MEMORY_BOUNDS_MIB,
  });
  const diskGib = readIfGiven(read, 'BERTH_RESERVED_DISK_GIB', {
    meaning:
      'Disk that no worker gets. Without it 5 % of the file system, and at least 10 GiB, but no more than an eighth.',
    bounds: RESERVED_DISK_BOUNDS_GIB,
  });
  return {
    memoryBytes: memoryMib === null ? null : memoryMib * MIB,
    diskBytes: diskGib === null ? null : diskGib * GIB,
  };
}

/** Null: nothing is set, which is not the same as 0. */
function readIfGiven(
  read: ConfigReader,
  name: string,
  { bounds, meaning }: { readonly meaning: string; readonly bounds: { readonly min: number; readonly max: number } },
): number | null {
  const isGiven = read.optional(name, meaning) !== null;
  return isGiven ? read.integer(name, meaning, { ...bounds, fallback: 0 }) : null;
}
