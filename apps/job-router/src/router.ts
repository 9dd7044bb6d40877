import { ROUTER_INBOX } from '@berth/contracts';
import type { Clock, Random } from '@berth/lifecycle';
import { createHttpApp, jobRendering, openAiRendering, pointElsewhere, type HttpApp } from '@berth/http';
import {
  Broker,
  BrokerGuard,
  STREAMS,
  TopologyKeeper,
  connectNats,
  drainConnection,
  unreadableLog,
  type NatsCredentials,
} from '@berth/messaging';
import { MetricRegistry, OperationsServer, Readiness, type Logger } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { Dispatchers } from './agent-gateway/dispatcher/dispatchers.service.js';
import { createAppModule } from './app.module.js';
import type { RouterConfig } from './config.js';
import { JobMaintenance } from './job-maintenance/job-maintenance.service.js';
import { assertOperationsDeclared } from './job-rate-limits/declared-operations.js';
import { RateExchange } from './job-rate-limits/rate-exchange.service.js';
import { CheckpointWriter } from './job-view/checkpoint-writer.service.js';
import { DemandPublisher } from './job-view/demand-publisher.service.js';
import { JobReader } from './jobs/job-reader.service.js';
import { bodyMaxBytes, getHasEffect } from './job-paths.js';
import { SystemNameLookup } from './webhooks/system-name-lookup.js';
import type { NameLookup } from './webhooks/name-lookup.port.js';
import { Webhooks } from './webhooks/webhooks.service.js';
import { NatsJobHistory } from './nats-job-history.js';
import { NatsJobs } from './nats-jobs.js';
import { NatsRatePeers } from './nats-rate-peers.js';
import { NatsSnapshots } from './nats-snapshots.js';
import { isOpenAiUrl } from './openai/openai-request.js';
import { BODY_THREAD, type BodyThread } from './large-bodies.js';
import { RequestBodies } from './request-bodies.service.js';
import { serveAgents } from './serve-agents.js';

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
  /** Life of a lease; other than the design's only where a test waits for its end. */
  readonly leaseMs?: number;
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
  const ways = { inboxPrefix: INBOX_PREFIX, onUnreadable };
  const broker = await Broker.over({ connection: connections.store, ...ways });
  const payloadBroker = await Broker.over({ connection: connections.payloads, ...ways });
  const { jobs, snapshots } = await openStores({ broker, payloadBroker }, config, environment);
  watchStores(readiness, broker, { jobs, snapshots });
  metrics.gaugeOf({ name: 'router_store_fill_ratio', help: 'How full the fullest store of jobs is.' }, () => jobs.fill);

  const messageMaxBytes = messageLimitOf(connections.store, logger);
  const platform = { store: jobs.store, clock, logger, metrics, settings: { ...config, messageMaxBytes } };
  const ratePeers = new NatsRatePeers({ connection: connections.store, routerId: config.routerId, onUnreadable });
  const { nameLookup = new SystemNameLookup() } = environment;
  const history = new NatsJobHistory({ connection: connections.store, clock, random });
  const bodies = openBodies(config, environment, metrics);
  const parts = { platform, jobs, snapshots, ratePeers, nameLookup, history, bodies };
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
  });
  assertOperationsDeclared(http.nest);
  await jobs.start();
  onStop('job store', () => jobs.stop());
  await snapshots.start();
  startWork(http, onStop);
  await serveAgents(http, { connection: connections.agents, drainMs: DRAIN_MS, clock, logger, metrics, guard });
  const httpPort = await http.listen(config.httpHost, config.httpPort);
  onStop('requests', () => drain(http, readiness));
  readiness.start();
  logger.info('listening', { httpPort, operationsPort, routerId: config.routerId });
  return { httpPort, operationsPort };
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
  const { clock, random, logger, onStop } = environment;
  const open = async (purpose: keyof Connections): Promise<NatsConnection> => {
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
  };
  return { store: await open('store'), payloads: await open('payloads'), agents: await open('agents') };
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

interface Stores {
  readonly jobs: NatsJobs;
  readonly snapshots: NatsSnapshots;
}

async function openStores(
  { broker, payloadBroker }: { readonly broker: Broker; readonly payloadBroker: Broker },
  config: RouterConfig,
  environment: RouterEnvironment,
): Promise<Stores> {
  const { clock, random, logger, onStop, leaseMs } = environment;
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
  const jobs = new NatsJobs({ broker, payloadBroker, clock, random, logger, leaseMs });
  const snapshots = new NatsSnapshots({ broker, clock, logger });
  onStop('snapshots', () => snapshots.stop());
  return { jobs, snapshots };
}

function watchStores(readiness: Readiness, broker: Broker, { jobs, snapshots }: Stores): void {
  // The last stream that is made and the one that all others feed.
  readiness.add('topology', async () => {
    await broker.manager.streams.info(STREAMS.events);
  });
  readiness.add('directory', async () => {
    if (!snapshots.isLoaded) throw new Error('the snapshots of the control plane are not loaded yet');
  });
  readiness.addDegradation(() => jobs.refusing);
  readiness.add('view', async () => {
    const { isWhole, toldCount } = jobs.feed;
    if (!isWhole) throw new Error(`the view of jobs has not caught up: ${toldCount} versions so far`);
  });
}

function startWork({ nest }: HttpApp, onStop: RouterEnvironment['onStop']): void {
  const maintenance = nest.get(JobMaintenance, { strict: false });
  const demand = nest.get(DemandPublisher, { strict: false });
  const rates = nest.get(RateExchange, { strict: false });
  const checkpoints = nest.get(CheckpointWriter, { strict: false });
  checkpoints.start();
  onStop('checkpoints', () => checkpoints.stop());
  maintenance.start();
  onStop('maintenance', () => maintenance.stop());
  const webhooks = nest.get(Webhooks, { strict: false });
  webhooks.start();
  onStop('webhooks', () => webhooks.stop());
  demand.start();
  onStop('demand', () => {
    demand.stop();
  });
  rates.start();
  onStop('rates', () => {
    rates.stop();
  });
}

/** Whoever is held hears now what there is to hear, so that draining does not wait for their time limits. */
async function drain(http: HttpApp, readiness: Readiness): Promise<void> {
  readiness.stop();
  http.nest.get(JobReader, { strict: false }).release();
  await http.nest.get(Dispatchers, { strict: false }).close();
  await http.drain(DRAIN_MS);
}
