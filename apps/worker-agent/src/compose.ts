import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostId, Inventory } from '@berth/domain';
import { connectNats, watchCertificates } from '@berth/messaging';
import { listenError, openProcess, versionOf, type OpenProcess, type ProcessParts } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { lastBridgePort, rememberBridgePort, WorkerBridge } from './bridge/index.js';
import type { AgentConfig } from './config.js';
import { claimHome } from './home/index.js';
import { ImagesAhead, NO_IMAGES_AHEAD, type HostImagesAhead } from './images-ahead/index.js';
import { JobClient } from './job-client/index.js';
import { balancedMetrics, FreePorts, InFlightWitness, LocalWorkerLink } from './load-balanced/index.js';
import { Journal } from './journal/index.js';
import { composeRuntime, type ContainerRuntime, type OnRemoving, type OpenRuntime } from './runtimes/index.js';
import {
  AgentLink,
  type AgentLinkOptions,
  type ConnectAs,
  type HostIdentity,
  HostSession,
  HostJoining,
} from './session/index.js';
import { HostTunnels } from './tunnels/index.js';
import { NO_VOLUMES, VolumeFolder, type HostVolumes } from './volumes/index.js';
import { HostWorkerLogs, logTailOf } from './worker-logs/index.js';
import { noteRemoved, workerMetrics, WorkerReconciler, type WorkerTools } from './worker-reconciler/index.js';

/** The time that running jobs get when the agent takes its workers along. */
const DRAIN_LIMIT_MS = 10_000;
/** The time that running jobs get when their workers go on without the agent. */
const LEAVING_JOBS_MS = 5_000;
/** How long workers found again wait for the broker: longer, and their own calls would time out. */
const CONNECT_WAIT_MS = 10_000;

/** The parts that every part of the process is given. */
interface Frame extends OpenProcess {
  readonly config: AgentConfig;
}

/** Composition root of the agent: the only place that names its concrete parts. */
export async function startAgent(config: AgentConfig, parts: ProcessParts): Promise<void> {
  const traces = { ...config.tracing, process: 'worker-agent', instance: null };
  const at = { host: config.operationsHost, port: config.operationsPort, traces };
  const frame: Frame = { ...(await openProcess(parts, at)), config };
  const { clock, logger, random } = frame;
  await mkdir(config.home, { recursive: true, mode: 0o700 });
  const claim = await claimHome(config.home, random);
  frame.onStop('home', () => claim.release());
  const { home, joinToken: tokenPlace } = config;
  const tools = { clock, random, logger };
  const joining = new HostJoining({ home, tokenPlace, connect: (as) => connect(frame, as), ...tools });
  const claimed = await joining.identify();
  const journal = await openJournal(frame);
  const volumes = await openVolumes(frame);
  const opened = await openRuntime(frame, claimed.hostId, journal);
  const inventory = inventoryOf(opened, volumes);
  const identity = await joining.join(claimed, inventory);
  watchCertificates(frame, config.natsUrl);
  const onAdmission = joining.returning(identity, inventory);
  await startWorkers(frame, { identity, journal, opened, volumes, onAdmission });
}

/** Not `openConnection`: the agent's link ends connections and makes new ones as long as it lives, and says so itself. */
const connect = ({ clock, config, random }: Frame, as: ConnectAs): Promise<NatsConnection> =>
  connectNats({ url: config.natsUrl, name: 'worker-agent', clock, random, ...as });

/** In the history of a job whose worker ran outside of the agent's network. */
const STRAY_REASON = 'its host moved its worker into a confined network';

const openRuntime = (frame: Frame, hostId: HostId, { workers }: Journal): Promise<OpenRuntime> => {
  const { config, logger } = frame;
  const onRemoving: OnRemoving = (removed) => noteRemoved(workers, removed, { reason: STRAY_REASON, logger });
  const { home, reserve, simulatedGpus, vcpus, volumesFolder } = config;
  const { advertisedHost: host, listenHost } = config.bridge;
  const parts = {
    hostId,
    home,
    reserve,
    simulatedGpus,
    vcpus,
    volumesFolder,
    bridge: { host, listenHost },
    onRemoving,
  };
  return composeRuntime(frame, config.runtime, parts);
};

interface HostParts {
  readonly identity: HostIdentity;
  readonly journal: Journal;
  readonly opened: OpenRuntime;
  readonly volumes: HostVolumes;
  readonly onAdmission: (isAdmitted: boolean) => void;
}

/** In this order: workers that still run must find their bridge, whether or not the broker is there. */
async function startWorkers(
  frame: Frame,
  { identity, journal, onAdmission, opened, volumes }: HostParts,
): Promise<void> {
  const { clock, config, logger, onStop, random, readiness } = frame;
  const { hostId, secret, dataCenterId } = identity;
  const { runtime } = opened;
  const logs = await openLogs(frame, opened);
  const onLogs: AgentLinkOptions['onLogs'] = (request) => logs.answer(request);
  const to = { hostId, secret, connect: (as: ConnectAs) => connect(frame, as) };
  const link = new AgentLink({ ...to, clock, logger, onLogs, onAdmission });
  link.start();
  onStop('broker connection', () => link.close());
  readiness.add('nats', () => link.check());
  const bridge = await openBridge(frame, { link, journal, opened });
  await opened.confine(bridge.port);
  const balanced = openBalanced(frame, { hostId, link });
  const tools = workerTools(frame, { hostId, runtime, bridge, balanced, logs, volumes, records: journal.workers });
  const workers = new WorkerReconciler(tools, dataCenterId);
  // Jobs that run are kept only when a router renews them; who has none need not wait for one.
  if (journal.workers.list().size > 0) await link.connected(CONNECT_WAIT_MS);
  await workers.start();
  logs.serve();
  onStop('workers', () => workers.stop());
  const instanceId = random.uuid();
  const imagesAhead = openImagesAhead(frame, { runtime, workers });
  openTunnels(frame, { hostId, link, balanced });
  const session = new HostSession({
    secret,
    instanceId,
    link,
    inventory: inventoryOf(opened, volumes),
    workers,
    volumes,
    logs,
    imagesAhead,
    clock,
    logger,
    onUnreadable: (entries) => {
      tools.metrics.unreadableEntries.inc(entries);
    },
  });
  session.start();
  readiness.start();
  onStop('session', async () => {
    await (config.keepsWorkers ? bridge.finishJobs(LEAVING_JOBS_MS) : workers.drainAll(DRAIN_LIMIT_MS));
    await session.stop();
    await session.reportOnce();
  });
}

/** The way of requests to this host's load-balanced workers; those that are in flight end with this process. */
function openBalanced(
  { clock, metrics, onStop }: Frame,
  { hostId, link }: { readonly hostId: HostId; readonly link: AgentLink },
): LocalWorkerLink {
  const balanced = new LocalWorkerLink({ hostId, clock, metrics });
  const { untold } = balancedMetrics(metrics);
  const witness = new InFlightWitness({
    hostId,
    inFlight: () => balanced.inFlight(),
    onChange: (listener) => balanced.subscribe(listener),
    tell: (message) => {
      link.tellDemand(message);
    },
    onUntold: () => {
      untold.inc();
    },
    clock,
  });
  witness.start();
  onStop('load-balanced workers', () => {
    witness.stop();
    balanced.close();
  });
  return balanced;
}

/** Requests come through them; what is under way when the agent stops gets some time, though its workers go on. */
function openTunnels(
  { clock, config, logger, metrics, onStop, traces }: Frame,
  parts: { readonly hostId: HostId; readonly link: AgentLink; readonly balanced: LocalWorkerLink },
): void {
  const { balanced, hostId, link } = parts;
  const tunnels = new HostTunnels({ hostId, link: balanced, via: config.tunnelVia, clock, logger, metrics, traces });
  link.onTunnelOffer((offer) => {
    tunnels.hear(offer);
  });
  onStop('tunnels', async () => {
    tunnels.drain();
    await balanced.settled(DRAIN_LIMIT_MS);
    tunnels.close();
  });
}

/** Folders of the process runtime are set up when a worker wants them: there is nothing to pull. */
function openImagesAhead(
  { clock, config, logger, onStop }: Frame,
  parts: { readonly runtime: ContainerRuntime; readonly workers: WorkerReconciler },
): HostImagesAhead {
  if (config.runtime.kind === 'process') return NO_IMAGES_AHEAD;
  const imagesAhead = new ImagesAhead({ ...parts, clock, logger });
  imagesAhead.start();
  onStop('images ahead', () => imagesAhead.stop());
  return imagesAhead;
}

async function openVolumes({ clock, config, logger, onStop, random }: Frame): Promise<HostVolumes> {
  const { home, volumesFolder: folder } = config;
  if (folder === null) return NO_VOLUMES;
  const volumes = new VolumeFolder({ folder, home, clock, random, logger });
  await volumes.start();
  onStop('network volumes', () => volumes.stop());
  return volumes;
}

/** What the machine has, where its network volumes are, and of which version this agent is. */
function inventoryOf({ runtime }: OpenRuntime, volumes: HostVolumes): () => Promise<Inventory> {
  const agentVersion = versionOf();
  return async () => {
    const inventory = await runtime.inventory();
    const { storage } = volumes;
    return { ...inventory, agentVersion, ...(storage !== null && { volumes: storage }) };
  };
}

const workerTools = (
  { clock, logger, metrics, random }: Frame,
  parts: Pick<WorkerTools, 'hostId' | 'runtime' | 'bridge' | 'balanced' | 'logs' | 'records' | 'volumes'>,
): WorkerTools => ({ ...parts, ports: new FreePorts(random), clock, random, logger, metrics: workerMetrics(metrics) });

async function openLogs({ clock, config, logger, onStop }: Frame, { runtime }: OpenRuntime): Promise<HostWorkerLogs> {
  const folder = join(config.home, 'worker-logs');
  const logs = await HostWorkerLogs.open({ folder, bounds: config.logs, runtime, clock, logger });
  onStop('worker logs', () => logs.stop());
  return logs;
}

async function openJournal({ config, logger, onStop, random }: Frame): Promise<Journal> {
  const journal = await Journal.open({
    folder: join(config.home, 'journal'),
    fileBytesMax: config.spool.bytesMax,
    random,
    onDamage: (detail) => {
      logger.error('the journal is damaged', { detail });
    },
  });
  onStop('journal', () => journal.close());
  return journal;
}

async function openBridge(
  { clock, config, logger, metrics, onStop, random, traces }: Frame,
  { link, journal, opened }: { link: AgentLink; journal: Journal; opened: OpenRuntime },
): Promise<WorkerBridge> {
  const share = { fileBytesMax: config.spool.workerBytesMax, memoryBytesMax: config.spool.workerMemoryBytesMax };
  const client = new JobClient({ link, journal, share, clock, random, metrics, traces, log: logger });
  const { listenHost, runtime } = opened;
  const { advertisedHost, port } = config.bridge;
  // Workers that still run know the last port only; where another process has it now, they are replaced.
  const listenPorts = port === 0 ? [await lastBridgePort(config.home), 0] : [port];
  const bridge = await WorkerBridge.open({
    client,
    clock,
    random,
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
