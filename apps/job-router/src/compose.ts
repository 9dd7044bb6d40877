import { ROUTER_INBOX } from '@berth/contracts';
import type { Clock, Random } from '@berth/lifecycle';
import { createHttpApp, jobRendering, openAiRendering, pointElsewhere, type HttpApp } from '@berth/http';
import {
  Broker,
  BrokerGuard,
  LOG_ANSWER_MS,
  TopologyKeeper,
  connectNats,
  drainConnection,
  unreadableLog,
  type NatsCredentials,
} from '@berth/messaging';
import { MetricRegistry, OperationsServer, Readiness, type Logger } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { createAppModule, type AppParts } from './app.module.js';
import type { RouterConfig } from './config.js';
import { assertOperationsDeclared } from './job-rate-limits/declared-operations.js';
import { limitJobRates } from './job-rate-limits/limit-job-rates.js';
import { RateExchange } from './job-rate-limits/rate-exchange.js';
import { JobReader } from './jobs/job-reader.js';
import { bodyMaxBytes, getHasEffect } from './jobs/job-paths.js';
import { SystemNameLookup } from './webhooks/system-name-lookup.js';
import type { NameLookup } from './webhooks/name-lookup.port.js';
import { openJobCore, type JobCore, type JobCoreParts } from './log-core.js';
import { NatsJobHistory } from './job-history/nats-job-history.js';
import { NatsRatePeers } from './job-rate-limits/nats-rate-peers.js';
import { NatsSnapshots } from './directory/nats-snapshots.js';
import { isOpenAiUrl } from './request-bodies/openai-request.js';
import { BODY_THREAD, type BodyThread } from './request-bodies/large-bodies.js';
import { RequestBodies } from './request-bodies/request-bodies.js';
import { serveAgents } from './agents/serve-agents.js';

const CONNECT_WITHIN_MS = 30_000;

/** Requests in flight may take so long once the process stops: callers that are held are answered at once. */
const DRAIN_MS = 10_000;

/** A broker's own default. */
const MESSAGE_MAX_BYTES_DEFAULT = 1024 ** 2;
const MESSAGE_WANTED_BYTES = 2 * MESSAGE_MAX_BYTES_DEFAULT;

export interface RouterEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Called for each part that was started; what was added last is to be stopped first. */
  readonly onStop: (name: string, stop: () => Promise<void> | void) => void;
  /** Finds the addresses of webhooks' receivers; other than as the system does only in a test. */
  readonly nameLookup?: NameLookup;
  /** Reads large bodies; other than the build's only in a test. */
  readonly bodyThread?: BodyThread;
}

export interface RunningRouter {
  readonly httpPort: number;
  readonly operationsPort: number;
}

/** Starts the whole router process: everything that has a name in it is named here and in `app.module.ts`. */
export async function startRouter(config: RouterConfig, environment: RouterEnvironment): Promise<RunningRouter> {
  const { clock, random, logger, onStop } = environment;
  const { metrics, readiness, operationsPort } = await startOperations(config, environment);
  const connections = await connect(config, environment);
  readiness.add('nats', async () => {
    await Promise.all([connections.store.flush(), connections.payloads.flush(), connections.agents.flush()]);
  });
  const guard = guardAgents(config, environment, readiness);
  const onUnreadable = unreadableLog({ app: 'router', metrics, logger });
  const parts = await openParts(config, environment, { connections, metrics, onUnreadable });
  const { core, snapshots } = parts;
  core.watch(readiness);
  readiness.add('directory', async () => {
    if (!snapshots.isLoaded) throw new Error('the snapshots of the control plane are not loaded yet');
  });
  const http = await createHttpApp(createAppModule(parts), {
    logger,
    clock,
    random,
    metrics,
    docsUrl: config.docsUrl,
    credentialForm: 'bearer-or-bare',
    renderingOf: ({ url }) => (isOpenAiUrl(url) ? openAiRendering : jobRendering),
    bodyMaxBytes,
    getHasEffect,
    trustedProxies: config.trustedProxies,
    elsewhere: pointElsewhere('jobs', config.baseUrl),
    beforeHandlers: limitJobRates,
  });
  assertOperationsDeclared(http.nest);
  core.start(http.nest);
  await snapshots.start();
  const rates = http.nest.get(RateExchange, { strict: false });
  rates.start();
  onStop('rates', () => rates.stop());
  const takes = core.takesOf(http.nest);
  await serveAgents(http, { connection: connections.agents, drainMs: DRAIN_MS, clock, logger, metrics, guard, takes });
  const httpPort = await http.listen(config.httpHost, config.httpPort);
  onStop('requests', () => drain(http, readiness, core));
  readiness.start();
  logger.info('listening', { httpPort, operationsPort, routerId: config.routerId });
  return { httpPort, operationsPort };
}

interface Opened {
  readonly connections: Connections;
  readonly metrics: MetricRegistry;
  readonly onUnreadable: ReturnType<typeof unreadableLog>;
}

/** Everything that rooms stand on. */
async function openParts(
  config: RouterConfig,
  environment: RouterEnvironment,
  { connections, metrics, onUnreadable }: Opened,
): Promise<AppParts> {
  const { clock, random, logger, nameLookup = new SystemNameLookup(), onStop } = environment;
  const { routerId } = config;
  const ways = { inboxPrefix: INBOX_PREFIX, onUnreadable };
  const broker = await Broker.over({ connection: connections.store, ...ways });
  const payloadBroker = await Broker.over({ connection: connections.payloads, ...ways });
  await openTopology(broker, config, environment);
  const snapshots = new NatsSnapshots({ broker, clock, logger });
  onStop('snapshots', () => snapshots.stop());
  const settings = { ...config, messageMaxBytes: messageLimitOf(connections.store, logger) };
  const platform = { clock, random, logger, metrics, settings };
  const coreParts = { routerId, broker, payloadBroker, snapshots, nameLookup, onStop, ...platform };
  const core = await openLogs(config, environment, coreParts);
  const ratePeers = new NatsRatePeers({ connection: connections.store, routerId, onUnreadable });
  const history = new NatsJobHistory({ connection: connections.store, clock, random });
  return {
    platform,
    core,
    snapshots,
    ratePeers,
    nameLookup,
    history,
    bodies: openBodies(config, environment, metrics),
  };
}

function openBodies(config: RouterConfig, environment: RouterEnvironment, metrics: MetricRegistry): RequestBodies {
  const { bodyThread: thread = BODY_THREAD, clock, logger, onStop } = environment;
  const bodies = new RequestBodies({ webhooks: config.webhookAddresses, thread, clock, logger, metrics });
  onStop('bodies', () => bodies.close());
  return bodies;
}

interface Operations {
  readonly metrics: MetricRegistry;
  readonly readiness: Readiness;
  readonly operationsPort: number;
}

/** First of all, so that a router that cannot go on says why. */
async function startOperations(config: RouterConfig, { clock, onStop }: RouterEnvironment): Promise<Operations> {
  const metrics = new MetricRegistry();
  metrics.collectProcess();
  const readiness = new Readiness(clock);
  const operations = new OperationsServer({ host: config.httpHost, port: config.operationsPort, readiness, metrics });
  const operationsPort = await operations.start();
  onStop('operations server', () => operations.stop());
  return { metrics, readiness, operationsPort };
}

const INBOX_PREFIX = ROUTER_INBOX;

/**
 * Apart, because one connection is one line: a payload on its way must delay no lease, and a flood of uploads that makes
 * the broker cut a connection must not cut the store's.
 */
interface Connections {
  readonly store: NatsConnection;
  readonly payloads: NatsConnection;
  readonly agents: NatsConnection;
}

async function connect(config: RouterConfig, environment: RouterEnvironment): Promise<Connections> {
  const open = (purpose: string): Promise<NatsConnection> => openConnection(purpose, config, environment);
  return { store: await open('store'), payloads: await open('payloads'), agents: await open('agents') };
}

async function openConnection(
  purpose: string,
  config: RouterConfig,
  { clock, random, logger, onStop }: RouterEnvironment,
): Promise<NatsConnection> {
  const connection = await connectNats({
    url: config.natsUrl,
    name: `job-router ${config.routerId} ${purpose}`,
    ...(purpose === 'agents' && config.agentsSeed !== null
      ? { credentials: agentsCredentials(config), inboxPrefix: '_INBOX_gateway' }
      : { credentials: config.natsCredentials, inboxPrefix: INBOX_PREFIX }),
    connectWithinMs: CONNECT_WITHIN_MS,
    clock,
    random,
    onStatus: ({ kind, detail }) => {
      logger.info(`nats: ${kind}`, { purpose, detail });
    },
  });
  onStop(`nats ${purpose}`, () => drainConnection(connection, clock));
  return connection;
}

/** It has its answer when the stores are open, as a rule. */
function guardAgents(config: RouterConfig, environment: RouterEnvironment, readiness: Readiness): BrokerGuard {
  const { clock, logger, onStop } = environment;
  const { isBrokerTrusted: isTrusted, natsUrl: url } = config;
  const guard = new BrokerGuard({ url, credentials: agentsCredentials(config), isTrusted, clock, logger });
  onStop('broker guard', () => {
    guard.stop();
  });
  readiness.addDegradation(() => guard.missing);
  return guard;
}

/** Over a user of their own, answers can be written to agents and nowhere else, whatever an agent asks for. */
const agentsCredentials = ({ agentsSeed, natsCredentials }: RouterConfig): NatsCredentials =>
  agentsSeed === null ? natsCredentials : { kind: 'nkey', seed: agentsSeed };

/** Records with every part at its limit and every character escaped need more than a broker's default. */
function messageLimitOf({ info }: NatsConnection, logger: Logger): number {
  const maxPayload = info?.max_payload ?? MESSAGE_MAX_BYTES_DEFAULT;
  if (maxPayload < MESSAGE_WANTED_BYTES) {
    logger.warn('the broker takes small messages only: set its max_payload to 2MB', { maxPayload });
  }
  return maxPayload;
}

async function openTopology(broker: Broker, config: RouterConfig, environment: RouterEnvironment): Promise<void> {
  const { clock, random, logger, onStop } = environment;
  const topology = new TopologyKeeper({
    broker,
    part: 'jobs',
    size: config.topology,
    clock,
    random,
    onChange: (stream, change) => {
      logger.info(`stream ${stream} ${change}`);
    },
    onError: (error) => {
      logger.warn('the streams could not be looked after; the next try follows', { error });
    },
  });
  await topology.start();
  onStop('topology', () => topology.stop());
}

/** Facts of jobs have a connection of their own as well: what waits on another must not keep a claim from being renewed. */
async function openLogs(
  config: RouterConfig,
  environment: RouterEnvironment,
  parts: Omit<JobCoreParts, 'logBroker' | 'hasOneBroker'>,
): Promise<JobCore> {
  const connection = await openConnection('logs', config, environment);
  const { noteUnreadable: onUnreadable } = parts.broker;
  const ways = { inboxPrefix: INBOX_PREFIX, onUnreadable, timeoutMs: LOG_ANSWER_MS };
  return openJobCore({
    ...parts,
    hasOneBroker: config.topology.replicas === 1,
    logBroker: await Broker.over({ connection, ...ways }),
  });
}

/** Whoever is held hears now what there is to hear, so that draining does not wait for their time limits. */
async function drain(http: HttpApp, readiness: Readiness, core: JobCore): Promise<void> {
  readiness.stop();
  http.nest.get(JobReader, { strict: false }).release();
  core.letAgentsGo(http.nest);
  await http.drain(DRAIN_MS);
}
