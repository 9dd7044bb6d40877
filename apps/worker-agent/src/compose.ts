import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostId, Inventory } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { connectNats } from '@berth/messaging';
import { StartupError, listenError, openProcess, systemProcess, type Main, type OpenProcess } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { lastBridgePort, rememberBridgePort, WorkerBridge } from './bridge/index.js';
import type { AgentConfig, DockerConfig, ProcessConfig } from './config.js';
import { GpuLedger, HostInventory } from './gpus/index.js';
import { claimHome } from './home/index.js';
import { JobClient } from './job-client/index.js';
import { Journal } from './journal/index.js';
import {
  type ContainerRuntime,
  DockerRuntime,
  type DockerRuntimeOptions,
  findEngine,
  ProcessRuntime,
  RuntimeError,
} from './runtimes/index.js';
import { AgentLink, type ConnectAs, type HostIdentity, HostSession, IdentityStore, joinHost } from './session/index.js';
import {
  logTailOf,
  noteRemoved,
  workerMetrics,
  WorkerReconciler,
  type WorkerTools,
} from './worker-reconciler/index.js';

const CLOCK = systemClock;
const RANDOM = systemRandom;
/** What running jobs get when the agent takes its workers along. */
const DRAIN_LIMIT_MS = 10_000;
/** How long workers found again wait for the broker: longer, and their own calls would time out. */
const CONNECT_WAIT_MS = 10_000;

/** What every part of the process is given. */
interface Frame extends OpenProcess {
  readonly config: AgentConfig;
}

/** Composition root of the agent: the only place that names its concrete parts. */
export async function startAgent(config: AgentConfig, main: Main): Promise<void> {
  const at = { host: config.operationsHost, port: config.operationsPort };
  const frame: Frame = { ...(await openProcess(systemProcess(main, 'worker-agent', config), at)), config };
  const { logger } = frame;
  await mkdir(config.home, { recursive: true, mode: 0o700 });
  const claim = await claimHome(config.home, RANDOM);
  frame.onStop('home', () => claim.release());
  let images: () => Promise<readonly string[]> = async () => [];
  const inventory = newInventory(frame, () => images());
  const identity = await joinHost({
    store: new IdentityStore(config.home),
    token: config.joinToken,
    inventory: () => inventory.read(),
    connect: (as) => connect(frame, as),
    clock: CLOCK,
    random: RANDOM,
    logger,
  });
  const journal = await openJournal(frame);
  const opened = await openRuntime(frame, identity.hostId, journal);
  images = () => opened.runtime.images();
  await startWorkers(frame, { identity, inventory, journal, opened });
}

const newInventory = ({ config, logger }: Frame, images: () => Promise<readonly string[]>): HostInventory =>
  new HostInventory({
    clock: CLOCK,
    logger,
    runtime: config.runtime.kind,
    diskFolder: config.home,
    vcpus: config.vcpus,
    simulatedGpus: config.simulatedGpus,
    images,
  });

const connect = ({ config }: Frame, as: ConnectAs): Promise<NatsConnection> =>
  connectNats({ url: config.natsUrl, name: 'worker-agent', clock: CLOCK, random: RANDOM, ...as });

const LOOPBACK = '127.0.0.1';
/** In the history of a job whose worker ran outside of the agent's network. */
const STRAY_REASON = 'its host moved its worker into a confined network';

/** A runtime, and how its workers reach their agent. */
interface OpenRuntime {
  readonly runtime: ContainerRuntime;
  readonly listenHost: string;
  /** Called once, when the bridge has its port and before any worker is started. */
  readonly confine: (bridgePort: number) => Promise<void>;
}

async function openRuntime(frame: Frame, hostId: HostId, { workers }: Journal): Promise<OpenRuntime> {
  const { config, logger, onStop } = frame;
  const { runtime } = config;
  const onRemoving: DockerRuntimeOptions['onRemoving'] = (removed) =>
    noteRemoved(workers, removed, { reason: STRAY_REASON, logger });
  const opening =
    runtime.kind === 'docker' ? openDocker(frame, { ...runtime, hostId, onRemoving }) : openProcesses(config, runtime);
  const opened = await opening.catch(throwStartup);
  onStop('container runtime', () => opened.runtime.close());
  return opened;
}

function throwStartup(error: unknown): never {
  if (error instanceof RuntimeError) throw new StartupError(error.message, { cause: error });
  throw error;
}

async function openDocker(
  { config, logger, onStop, metrics }: Frame,
  { confinement, engines, ...more }: DockerConfig & Pick<DockerRuntimeOptions, 'hostId' | 'onRemoving'>,
): Promise<OpenRuntime> {
  const { access: engine, source } = await findEngine(engines);
  logger.info('container engine found', { engine: engine.name, source });
  const { advertisedHost: host, listenHost } = config.bridge;
  const parts = { engine, bridge: { host, listenHost }, confinement, clock: CLOCK, logger, metrics };
  const runtime = await DockerRuntime.open({ ...more, ...parts });
  // Containers that outlive the agent stay confined.
  onStop('worker network', async () => {
    if ((await runtime.list()).length === 0) await runtime.network.remove();
  });
  return {
    runtime,
    listenHost: runtime.network.listenHost,
    confine: (port) => runtime.network.confine(port).catch(throwStartup),
  };
}

async function openProcesses({ bridge, home }: AgentConfig, settings: ProcessConfig): Promise<OpenRuntime> {
  const runtime = await ProcessRuntime.open({
    workersFolder: join(home, 'workers'),
    imagesFolder: settings.imagesFolder,
    clock: CLOCK,
    random: RANDOM,
    environment: settings.workerEnvironment,
    setupEnvironment: settings.setupEnvironment,
  });
  return { runtime, listenHost: bridge.listenHost ?? LOOPBACK, confine: async () => undefined };
}

interface HostParts {
  readonly identity: HostIdentity;
  readonly inventory: HostInventory;
  readonly journal: Journal;
  readonly opened: OpenRuntime;
}

/** In this order: workers that still run must find their bridge, whether or not the broker is there. */
async function startWorkers(frame: Frame, { identity, inventory, journal, opened }: HostParts): Promise<void> {
  const { config, logger, onStop, readiness } = frame;
  const { hostId, secret, dataCenterId } = identity;
  const { runtime } = opened;
  const link = new AgentLink({ hostId, secret, connect: (as) => connect(frame, as), clock: CLOCK, logger });
  link.start();
  onStop('broker connection', () => link.close());
  readiness.add('nats', () => link.check());
  const bridge = await openBridge(frame, { link, journal, opened });
  await opened.confine(bridge.port);
  const gpus = new GpuLedger();
  const readInventory = async (): Promise<Inventory> => {
    const present = await inventory.read();
    gpus.setGpus(present.gpus);
    return present;
  };
  const { gpus: devices, areGpusSimulated } = await readInventory();
  const areGpusReal = devices.length > 0 && !areGpusSimulated;
  const tools = workerTools(frame, { hostId, runtime, bridge, records: journal.workers, gpus });
  const workers = new WorkerReconciler(tools, { dataCenterId, areGpusReal });
  // Jobs that run are kept only when a router renews them; who has none need not wait for one.
  if (journal.workers.list().size > 0) await link.connected(CONNECT_WAIT_MS);
  await workers.start();
  onStop('workers', () => workers.stop());
  const instanceId = RANDOM.uuid();
  const session = new HostSession({
    secret,
    instanceId,
    link,
    inventory: readInventory,
    workers,
    clock: CLOCK,
    logger,
    onUnreadable: (entries) => {
      tools.metrics.unreadableEntries.inc(entries);
    },
  });
  session.start();
  readiness.start();
  onStop('session', async () => {
    if (!config.keepsWorkers) await workers.drainAll(DRAIN_LIMIT_MS);
    await session.stop();
    await session.reportOnce();
  });
}

const workerTools = (
  { logger, metrics }: Frame,
  parts: Pick<WorkerTools, 'hostId' | 'runtime' | 'bridge' | 'records' | 'gpus'>,
): WorkerTools => ({ ...parts, clock: CLOCK, random: RANDOM, logger, metrics: workerMetrics(metrics) });

async function openJournal({ config, logger, onStop }: Frame): Promise<Journal> {
  const journal = await Journal.open({
    folder: join(config.home, 'journal'),
    fileBytesMax: config.spool.bytesMax,
    random: RANDOM,
    onDamage: (detail) => {
      logger.error('the journal is damaged', { detail });
    },
  });
  onStop('journal', () => journal.close());
  return journal;
}

async function openBridge(
  { config, logger, onStop, metrics }: Frame,
  { link, journal, opened }: { link: AgentLink; journal: Journal; opened: OpenRuntime },
): Promise<WorkerBridge> {
  const share = { fileBytesMax: config.spool.workerBytesMax, memoryBytesMax: config.spool.workerMemoryBytesMax };
  const client = new JobClient({ link, journal, share, clock: CLOCK, random: RANDOM, metrics, log: logger });
  const { listenHost, runtime } = opened;
  const { advertisedHost, port } = config.bridge;
  // Workers that still run know the last port only; where another process has it now, they are replaced.
  const listenPorts = port === 0 ? [await lastBridgePort(config.home), 0] : [port];
  const bridge = await WorkerBridge.open({
    client,
    clock: CLOCK,
    random: RANDOM,
    metrics,
    log: logger,
    listenHost,
    listenPorts,
    advertisedHost,
    bodies: config.bodies,
    logTail: logTailOf({ runtime, logger }),
  }).catch((error: unknown) => {
    throw listenError(error, { host: listenHost, port, variable: 'BERTH_BRIDGE_PORT' });
  });
  onStop('bridge', () => bridge.close());
  onStop('job client', () => client.stop());
  await rememberBridgePort(config.home, bridge.port);
  return bridge;
}
