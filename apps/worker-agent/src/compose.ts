import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { connectNats } from '@berth/messaging';
import { listenError, openProcess, systemProcess, type Main, type OpenProcess } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { lastBridgePort, rememberBridgePort, WorkerBridge } from './bridge/index.js';
import type { AgentConfig } from './config.js';
import { claimHome } from './home/index.js';
import { JobClient } from './job-client/index.js';
import { Journal } from './journal/index.js';
import { composeRuntime, type DockerRuntimeOptions, type OpenRuntime } from './runtimes/index.js';
import {
  AgentLink,
  type ConnectAs,
  type HostIdentity,
  HostSession,
  IdentityStore,
  identifyHost,
  joinHost,
} from './session/index.js';
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
  const own = { store: new IdentityStore(config.home), token: config.joinToken, logger };
  const claimed = await identifyHost({ ...own, random: RANDOM });
  const journal = await openJournal(frame);
  const opened = await openRuntime(frame, claimed.hostId, journal);
  const identity = await joinHost(claimed, {
    ...own,
    inventory: () => opened.runtime.inventory(),
    connect: (as) => connect(frame, as),
    clock: CLOCK,
  });
  await startWorkers(frame, { identity, journal, opened });
}

const connect = ({ config }: Frame, as: ConnectAs): Promise<NatsConnection> =>
  connectNats({ url: config.natsUrl, name: 'worker-agent', clock: CLOCK, random: RANDOM, ...as });

/** In the history of a job whose worker ran outside of the agent's network. */
const STRAY_REASON = 'its host moved its worker into a confined network';

const openRuntime = (frame: Frame, hostId: HostId, { workers }: Journal): Promise<OpenRuntime> => {
  const { config, logger } = frame;
  const onRemoving: DockerRuntimeOptions['onRemoving'] = (removed) =>
    noteRemoved(workers, removed, { reason: STRAY_REASON, logger });
  const { home, simulatedGpus, vcpus } = config;
  const { advertisedHost: host, listenHost } = config.bridge;
  const parts = { hostId, home, simulatedGpus, vcpus, bridge: { host, listenHost }, onRemoving };
  return composeRuntime(frame, config.runtime, parts);
};

interface HostParts {
  readonly identity: HostIdentity;
  readonly journal: Journal;
  readonly opened: OpenRuntime;
}

/** In this order: workers that still run must find their bridge, whether or not the broker is there. */
async function startWorkers(frame: Frame, { identity, journal, opened }: HostParts): Promise<void> {
  const { config, logger, onStop, readiness } = frame;
  const { hostId, secret, dataCenterId } = identity;
  const { runtime } = opened;
  const link = new AgentLink({ hostId, secret, connect: (as) => connect(frame, as), clock: CLOCK, logger });
  link.start();
  onStop('broker connection', () => link.close());
  readiness.add('nats', () => link.check());
  const bridge = await openBridge(frame, { link, journal, opened });
  await opened.confine(bridge.port);
  const tools = workerTools(frame, { hostId, runtime, bridge, records: journal.workers });
  const workers = new WorkerReconciler(tools, dataCenterId);
  // Jobs that run are kept only when a router renews them; who has none need not wait for one.
  if (journal.workers.list().size > 0) await link.connected(CONNECT_WAIT_MS);
  await workers.start();
  onStop('workers', () => workers.stop());
  const instanceId = RANDOM.uuid();
  const session = new HostSession({
    secret,
    instanceId,
    link,
    inventory: () => runtime.inventory(),
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
  parts: Pick<WorkerTools, 'hostId' | 'runtime' | 'bridge' | 'records'>,
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
