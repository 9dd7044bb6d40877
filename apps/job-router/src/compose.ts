import { demandSubject } from '@berth/contracts';
import { createHttpApp, HTTP_DRAIN_MS, jobRendering, openAiRendering, pointElsewhere, type HttpApp } from '@berth/http';
import { atEndOfTurn, type ThreadProgram } from '@berth/lifecycle';
import {
  HistoryReadWatch,
  JetStreamReaderCursors,
  OwnerRequests,
  logShard,
  unreadableLog,
  watchCertificates,
} from '@berth/messaging';
import { openProcess, type OpenProcess, type ProcessParts } from '@berth/telemetry';
import { composeAgents, NatsGoneHints, serveAgents } from './agents/index.js';
import { RouterModule } from './app/index.js';
import { type Brokers, guardAgents, openBrokers } from './brokers/index.js';
import type { RouterConfig } from './config.js';
import { EndpointDirectory, NatsSnapshots } from './directory/index.js';
import { composeEdge, type Jobs } from './edge/index.js';
import { NatsJobHistory, Requests, requestsMetrics } from './job-history/index.js';
import {
  assertOperationsDeclared,
  composeJobRateLimits,
  limitJobRates,
  NatsRatePeers,
} from './job-rate-limits/index.js';
import { composeJobStream } from './job-stream/index.js';
import { HeldCalls, bodyMaxBytes, composeJobs, getHasEffect } from './jobs/index.js';
import { NatsJobNotices } from './notices/index.js';
import { composeLoadBalancer, NatsCountPeers } from './load-balancer/index.js';
import { composeOpenAi } from './openai/index.js';
import { composeOwner, LogDeliveries, OwnerDemand, watchOwner } from './owner/index.js';
import type { Platform } from './platform/index.js';
import { pulseMetrics, QueueReasons } from './queue-reasons/index.js';
import { isOpenAiUrl, REQUEST_BODY_THREAD, RequestBodies } from './request-bodies/index.js';
import { batchMetrics, RunBatch } from './run-batch/index.js';
import { composeStores, watchStores } from './stores/index.js';
import { composeTunnels } from './tunnels/index.js';
import { composeWebhooks, type NameLookup, SystemNameLookup } from './webhooks/index.js';

export interface RouterEnvironment extends ProcessParts {
  /** Finds the addresses of webhooks' receivers; other than as the system does only in a test. */
  readonly nameLookup?: NameLookup;
  /** Reads large bodies; other than the build's only in a test. */
  readonly bodyThread?: ThreadProgram;
}

export interface RunningRouter {
  readonly httpPort: number;
  readonly operationsPort: number;
}

/** Starts the whole router process: everything that has a name in it is named here. */
export async function startRouter(config: RouterConfig, environment: RouterEnvironment): Promise<RunningRouter> {
  const process = await openOwnProcess(config, environment);
  const { clock, logger, metrics, onStop, operationsPort, readiness } = process;
  const onUnreadable = unreadableLog({ metrics, logger });
  const brokers = await openBrokers(config, process, onUnreadable);
  watchCertificates(process, config.natsUrl);
  const guard = guardAgents(config, process);
  const platform: Platform = { ...process, settings: { ...config, messageMaxBytes: brokers.messageMaxBytes } };
  const snapshots = new NatsSnapshots({ broker: brokers.shared, clock, logger });
  onStop('snapshots', () => snapshots.stop());
  const directory = new EndpointDirectory({ snapshots, clock });
  const parts = { platform, process, brokers, snapshots, directory };
  const core = composeCore(parts, { ...environment, hasOneBroker: config.topology.replicas === 1 });
  const held = new HeldCalls({ endpointOf: (endpointId) => parts.directory.knownEndpoint(endpointId) });
  const balancer = await composeBalancer(parts, { ...config, held, router: core.incarnation, onUnreadable });
  const callers = composeCallers(parts, { ...environment, held, jobs: core.jobs, onUnreadable });
  readiness.add('directory', async () => {
    if (!snapshots.isLoaded) throw new Error('the snapshots of the control plane are not loaded yet');
  });
  const app = RouterModule.of({
    directory,
    platform,
    jobs: core.jobs,
    made: [...core.agents, ...callers.made, balancer.totals],
  });
  const http = await createHttpApp(app, {
    ...{ ...process, docsUrl: config.docsUrl, trustedProxies: config.trustedProxies, bodyMaxBytes, getHasEffect },
    credentialForm: 'bearer-or-bare',
    renderingOf: ({ url }) => (isOpenAiUrl(url) ? openAiRendering : jobRendering),
    elsewhere: pointElsewhere('jobs', config.baseUrl),
    beforeHandlers: limitJobRates({ directory, rates: callers.rates }),
    dispatch: balancer.door,
  });
  assertOperationsDeclared(http.nest);
  startAll(process, core.works);
  await snapshots.start();
  startAll(process, { rates: callers.exchange, ...balancer.works });
  await serveAgents(http, {
    ...{ ...process, connection: brokers.agents, drainMs: HTTP_DRAIN_MS },
    ...{ guard, takes: core.taking },
  });
  const httpPort = await http.listen(config.httpHost, config.httpPort);
  onStop('requests', () => {
    readiness.stop();
    return leave(http, config, { balancer, releases: [() => callers.reader.release(), () => core.taking.close()] });
  });
  readiness.start();
  logger.info('listening', { httpPort, operationsPort, routerId: config.routerId });
  return { httpPort, operationsPort };
}

const openOwnProcess = (config: RouterConfig, environment: RouterEnvironment): Promise<OpenProcess> =>
  openProcess(environment, {
    ...{ host: config.httpHost, port: config.operationsPort },
    traces: { ...config.tracing, process: 'job-router', instance: config.routerId },
  });

interface Parts {
  readonly platform: Platform;
  readonly process: OpenProcess;
  readonly brokers: Brokers;
  readonly snapshots: NatsSnapshots;
  readonly directory: EndpointDirectory;
}

interface CoreEnvironment extends Pick<RouterEnvironment, 'nameLookup'> {
  /** Of several none knows at once which process has gone. */
  readonly hasOneBroker: boolean;
}

/** Where jobs lie, who owns them, what agents make of them, and what time brings about. `works` are to be started in order. */
function composeCore(
  { brokers, directory, platform, process, snapshots }: Parts,
  { hasOneBroker, nameLookup: names = new SystemNameLookup() }: CoreEnvironment,
) {
  const { clock, logger, settings } = platform;
  const { logs: logBroker, payloads: payloadBroker, shared: broker } = brokers;
  const stores = composeStores({ broker, payloadBroker, clock, logger });
  const { blobRooms, blobs, callersBlobs, chunkRooms, chunks } = stores;
  const onError = (error: unknown): void => logger.warn('how far the logs have been read is not known', { error });
  const history = new HistoryReadWatch({ broker, clock, onError });
  const requests = new OwnerRequests(broker, clock);
  const gone = new NatsGoneHints({ connection: broker.connection, hosts: snapshots.hostIds, logger });
  const owner = composeOwner({
    ...{ ...platform, ...settings, broker, logBroker, hasOneBroker, chunkRooms, directory },
    ...{ attachments: stores.attachments, deletedEndpoints: snapshots.deletedEndpoints },
    readThrough: (shard) => history.readThrough(shard),
    onDeliveriesDue: (endpointId) => webhooks.isDue(endpointId),
    onDemand: () => demand.hurry(),
    onRouterGone: (incarnation, shards) => {
      requests.letGo(shards);
      watches.lookAgain((endpointId) => shards.has(logShard(endpointId)));
      gone.tell(incarnation);
    },
    onNotice: ({ endpointId, jobs: news }) => watches.ring(endpointId, news),
  });
  const { incarnation, logs, notices, payloads } = owner;
  const { jobs, owners, watches } = composeEdge(platform, {
    ...{ incarnation, chunks, requests, blobs: callersBlobs, notices: new NatsJobNotices(broker, incarnation) },
    local: (endpointId, verb, question) => owner.desk.answer(endpointId, verb, question),
  });
  const agents = composeAgents(platform, { owners, directory, blobs, chunks, notices });
  const deliveries = new LogDeliveries({ logs, payloads, owners });
  const webhooks = composeWebhooks(platform, { deliveries, blobs, names, snapshots });
  const { routerId } = settings;
  const demand = new OwnerDemand({
    ...{ source: owner.routerLogs, clock, routerId, atEndOfTurn },
    publish: (message) => broker.connection.publish(demandSubject(routerId), JSON.stringify(message)),
  });
  watchOwner(process.readiness, broker, owner);
  watchStores(process, { logs: () => owner.logFill(), blobs: () => blobRooms.fullest });
  const works = { history, blobRooms, chunkRooms, watches, owner, webhooks, demand };
  return { jobs, agents: Object.values(agents), taking: agents.taking, works, incarnation };
}

interface BalancerEnvironment extends Pick<RouterConfig, 'drainMs' | 'tunnel'> {
  /** This process, among all that ever were. */
  readonly router: string;
  readonly held: HeldCalls;
  readonly onUnreadable: ReturnType<typeof unreadableLog>;
}

/** The door to load-balanced endpoints, which are no part of the job API, and the tunnels to their workers. */
async function composeBalancer(
  { brokers, directory, platform, process, snapshots }: Parts,
  { drainMs, held, onUnreadable, router, tunnel }: BalancerEnvironment,
) {
  const { connection } = brokers.shared;
  const { listener: link, offers } = await composeTunnels(process, { settings: tunnel, connection, router, snapshots });
  const { routerId } = platform.settings;
  const subject = demandSubject(routerId);
  const balancer = composeLoadBalancer({
    ...{ ...platform, directory, link, pulse: snapshots.pulse, drainMs },
    holdCall: (endpointId) => held.begin(endpointId),
    onAssignmentChanged: snapshots.onAssignmentChanged,
    onEndpointDeleted: (listener) => {
      snapshots.deletedEndpoints.onDeleted(listener);
    },
    peers: new NatsCountPeers({ connection, routerId, onUnreadable }),
    publish: (message) => connection.publish(subject, JSON.stringify(message)),
  });
  const { demand: heldDemand, totals: requestTotals } = balancer;
  return { ...balancer, works: { heldDemand, requestTotals, tunnelOffers: offers } };
}

interface CallersEnvironment extends Pick<RouterEnvironment, 'bodyThread'> {
  readonly held: HeldCalls;
  readonly jobs: Jobs;
  readonly onUnreadable: ReturnType<typeof unreadableLog>;
}

/** The parts that callers reach, over `Jobs` alone. */
function composeCallers(
  { brokers, directory, platform, process, snapshots }: Parts,
  { bodyThread: thread = REQUEST_BODY_THREAD, held, jobs, onUnreadable }: CallersEnvironment,
) {
  const { clock, logger, metrics, random, settings } = platform;
  const { connection } = brokers.shared;
  const bodies = new RequestBodies({ webhooks: settings.webhookAddresses, thread, clock, logger, metrics });
  process.onStop('bodies', () => bodies.close());
  const { pulse } = snapshots;
  pulseMetrics(metrics, pulse, clock);
  const reasons = new QueueReasons({ directory, pulse, clock });
  const peers = new NatsRatePeers({ connection, routerId: settings.routerId, onUnreadable });
  const { exchange, rates } = composeJobRateLimits(platform, { directory, peers });
  const { commands, intake, reader } = composeJobs(platform, { held, jobs, reasons, bodies });
  const cursors = new JetStreamReaderCursors(brokers.shared);
  const { answers, events, places, stream } = composeJobStream(platform, { jobs, reader, cursors });
  const openAi = composeOpenAi(platform, { jobs, reader, held, stream, answers });
  const { docsUrl } = settings;
  const batches = new RunBatch({ intake, rates, docsUrl, metrics: batchMetrics(metrics), logger });
  const history = new NatsJobHistory({ connection, clock, random });
  const requests = new Requests({ jobs, history, reasons, clock, logger, metrics: requestsMetrics(metrics) });
  const made = [bodies, reader, intake, commands, places, stream, answers, events, openAi, batches, requests];
  return { exchange, rates, reader, made };
}

interface Work {
  start(): void;
  stop(): Promise<void> | void;
}

function startAll({ onStop }: OpenProcess, works: Readonly<Record<string, Work>>): void {
  for (const [name, work] of Object.entries(works)) {
    work.start();
    onStop(name, () => work.stop());
  }
}

interface Leaving {
  readonly balancer: Pick<ReturnType<typeof composeLoadBalancer>, 'release'>;
  /** Callers and agents that are held hear what there is to hear, so that draining does not wait for their time limits. */
  readonly releases: readonly (() => void)[];
}

async function leave(
  http: HttpApp,
  { drainDelayMs, drainMs }: Pick<RouterConfig, 'drainDelayMs' | 'drainMs'>,
  { balancer, releases }: Leaving,
): Promise<void> {
  await http.leave(drainDelayMs);
  for (const release of releases) release();
  await balancer.release(() => http.drain(drainMs));
}
