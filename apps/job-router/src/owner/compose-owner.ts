import type { NoticeMessage } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';
import { RouterLogs, type OwnershipListener } from '@berth/endpoint-log';
import { atEndOfTurn, type Clock, type Random } from '@berth/lifecycle';
import {
  LOG_FORMAT,
  LOG_SHARDS,
  NatsLogBroker,
  NatsShardClaims,
  jobShard,
  logShard,
  watchConnection,
  type Broker,
  type JetStreamAttachments,
} from '@berth/messaging';
import type { Logger, MetricRegistry, Traces } from '@berth/telemetry';
import type { DeletedEndpoints, EndpointDirectory } from '../directory/index.js';
import { jobsPerAnswer } from './takes/jobs-per-answer.js';
import { NatsWatcherNotices } from '../notices/index.js';
import { ChunkQuotas, type ChunkRooms } from './logs/chunk-quotas.js';
import { DeletedLogs } from './deletions/deleted-logs.js';
import { EndpointDeletions } from './deletions/endpoint-deletions.js';
import { OwnedLogs, type OwnedLogsOptions } from './logs/endpoint-logs.js';
import { ForeignAppends, noting } from './logs/foreign-appends.js';
import { HeldTakes } from './takes/held-takes.js';
import { JobAssigner } from './takes/job-assigner.js';
import { JobWatchers } from './effects/job-watchers.js';
import { LeftoverRemovals } from './deletions/leftover-removals.js';
import { EndpointSeries } from './endpoint-series/endpoint-series.js';
import { LogPayloads } from './logs/log-payloads.js';
import { openLogRooms, ownedShards } from './logs/open-log-rooms.js';
import { endpointMetrics, ownerGauges, ownerMetrics, queueGauges } from './metrics.js';
import { OwnerDesk } from './owner-desk.js';
import { OwnerLogLines } from './owner-log-lines.js';
import { OwnerServer } from './owner-server.js';
import { RouterProbe } from './router-probe.js';
import { StopOrders } from './effects/stop-orders.js';
import { CommittedEffects } from './effects/committed-effects.js';
import { FailedTraces } from './effects/failed-traces.js';
import { UnreadLogs } from './logs/unread-logs.js';
import { WatchNotices } from './effects/watch-notices.js';
import { WatchedClaims } from './watched-claims.js';

export interface OwnerOptions {
  readonly routerId: string;
  /** Over a connection of its own, with answers that are not waited for longer than `LOG_ANSWER_MS`. */
  readonly logBroker: Broker;
  /** Over which routers ask each other, and hosts are told to stop. */
  readonly broker: Broker;
  /** Of several brokers none knows at once which process has gone. */
  readonly hasOneBroker: boolean;
  /** Payload parts and stream chunks, which lie beside the logs. */
  readonly attachments: Pick<JetStreamAttachments, 'remove' | 'removeEndpoint'>;
  readonly chunkRooms: ChunkRooms;
  readonly directory: Pick<EndpointDirectory, 'snapshotOf'>;
  readonly deletedEndpoints: DeletedEndpoints;
  readonly messageMaxBytes: number;
  /** The sequence through which the job history has read a shard's log. */
  readonly readThrough: (shard: number) => number;
  readonly onDeliveriesDue: (endpointId: EndpointId) => void;
  /** Something happened to jobs here: more or fewer may wait. Must not throw. */
  readonly onDemand: () => void;
  /** News of jobs for callers that are held in this very process. Must not throw. */
  readonly onNotice: (notice: NoticeMessage) => void;
  /** A router's process is gone that owned these shards. Must not throw. */
  readonly onRouterGone: (incarnation: string, shards: ReadonlySet<number>) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly traces: Traces;
}

export interface RunningOwner {
  /** Names this process to the others, from its start to its end. */
  readonly incarnation: string;
  readonly desk: OwnerDesk;
  readonly logs: OwnedLogs;
  readonly payloads: LogPayloads;
  readonly routerLogs: RouterLogs;
  /** Tells routers of jobs that they watch, this one included. */
  readonly notices: NatsWatcherNotices;
  /** Shards without a known owner: what their endpoints are asked waits. */
  unownedShards(): readonly number[];
  /** Shards of this router whose logs do not wait any longer for the job history, though it is behind. */
  unreadShards(): readonly number[];
  /** Share of the room that is taken in the fullest of this router's shards. */
  logFill(): number;
  start(): void;
  /** Hands the shards over. */
  stop(): Promise<void>;
}

const INCARNATION_LENGTH = 16;

/** Everything that a router does as an owner of logs. */
export function composeOwner(options: OwnerOptions): RunningOwner {
  const { broker, clock, logBroker, logger, metrics, onNotice: tellOwn, routerId } = options;
  const incarnation = `${routerId}-${options.random.id(INCARNATION_LENGTH)}`;
  const { connection, noteUnreadable: onUnreadable } = broker;
  const notices = new NatsWatcherNotices({ connection, incarnation, tellOwn, logger });
  const lines = new OwnerLogLines({ logger, metrics: ownerMetrics(metrics), clock });
  const foreign = new ForeignAppends(clock);
  const logRooms = openLogRooms(options, { foreign, routerLogs: () => routerLogs });
  const rooms = openRooms(options, lines, {
    ask: (endpointId, asker) => routerLogs.ask(endpointId, asker),
    fillOf: (endpointId) => logRooms.of(logShard(endpointId))?.fill ?? 0,
    bring: (endpointId, bytes) => logRooms.bring(logShard(endpointId), bytes),
  });
  const { desk, logs, payloads, removals, takes } = rooms;
  const unread = new UnreadLogs({ rooms: logRooms, readThrough: options.readThrough });
  const server = new OwnerServer({ desk, connection, clock, metrics: ownerMetrics(metrics), logger, onUnreadable });
  const claims = new WatchedClaims(new NatsShardClaims(logBroker), clock, LOG_SHARDS);
  const onDead = (gone: string): void => options.onRouterGone(gone, claims.shardsOf(gone));
  const probe = new RouterProbe({ ...options, connection, incarnation, routers: () => claims.routers, onDead });
  const series = new EndpointSeries({
    ...{ clock, metrics: endpointMetrics(metrics) },
    demands: () => routerLogs.demands,
    shows: (endpointId) => owns(logShard(endpointId)),
  });
  const around = { ...rooms, series, incarnation, notices, server, claims, probe, lines, unread, foreign };
  const routerLogs = openRouterLogs(options, around);
  const owns = (shard: number): boolean => ownedShards(routerLogs).has(shard);
  const deletions = openDeletions(options, { logs, payloads, unread, lines, owns });
  watchConnections(options, routerLogs);
  openGauges(options, { ...rooms, series, server, claims, routerLogs });
  return {
    ...{ incarnation, desk, logs, payloads, routerLogs, notices },
    unownedShards: () => claims.unowned,
    unreadShards: () => [...ownedShards(routerLogs)].filter((shard) => unread.isEscaping(shard)),
    logFill: () => logRooms.fullest,
    start: () => {
      for (const work of [probe, takes, routerLogs, logRooms, deletions]) work.start();
    },
    stop: async () => {
      takes.stop();
      await Promise.all([deletions.stop(), logRooms.stop()]);
      await routerLogs.handOver();
      await server.stop();
      await removals.stop();
      probe.stop();
    },
  };
}

interface GaugedRooms extends Rooms {
  readonly series: EndpointSeries;
  readonly server: OwnerServer;
  readonly claims: WatchedClaims;
  readonly routerLogs: RouterLogs;
}

function openGauges({ metrics }: OwnerOptions, { claims, routerLogs, series, ...rooms }: GaugedRooms): void {
  queueGauges(metrics, () => series.read());
  ownerGauges(metrics, {
    ...rooms,
    ownedShards: () => ownedShards(routerLogs).size,
    unownedShards: () => claims.unowned.length,
  });
}

type Rooms = ReturnType<typeof openRooms>;

function openRooms(options: OwnerOptions, lines: OwnerLogLines, at: OwnedLogsOptions) {
  const { attachments, chunkRooms, clock, directory, logBroker, logger, messageMaxBytes, metrics, random, traces } =
    options;
  const payloads = new LogPayloads({
    broker: new NatsLogBroker({ broker: logBroker, clock }),
    onUnreadable: (endpointId, sequence, error) => lines.unreadable(endpointId, sequence, error),
  });
  const logs = new OwnedLogs(at);
  const giving = new JobAssigner({ logs, payloads, clock });
  const takes = new HeldTakes({ giving, clock, logger, atEndOfTurn, jobsPerAnswer: jobsPerAnswer(messageMaxBytes) });
  const [watchers, deletedLogs] = [new JobWatchers(clock), new DeletedLogs(clock)];
  const quotas = new ChunkQuotas({ rooms: chunkRooms, shardOf: jobShard });
  const onOver = (outcome: string): void => ownerMetrics(metrics).removals.inc({ outcome });
  const removals = new LeftoverRemovals({ attachments, clock, random, logger, onOver });
  const desk = new OwnerDesk({
    logs,
    deletedLogs,
    endpoints: directory,
    payloads,
    takes,
    watchers,
    quotas,
    clock,
    traces,
  });
  return { atEndOfTurn, desk, logs, payloads, quotas, removals, takes, watchers };
}

interface Around extends Rooms {
  readonly series: EndpointSeries;
  readonly incarnation: string;
  readonly notices: NatsWatcherNotices;
  readonly server: OwnerServer;
  readonly claims: WatchedClaims;
  readonly probe: RouterProbe;
  readonly lines: OwnerLogLines;
  readonly unread: UnreadLogs;
  readonly foreign: ForeignAppends;
}

function openRouterLogs(options: OwnerOptions, around: Around): RouterLogs {
  const { broker, clock, logger, metrics, onDeliveriesDue, random, routerId } = options;
  const { atEndOfTurn, claims, foreign, incarnation, lines, notices, payloads, probe } = around;
  const { quotas, removals, series, takes, unread, watchers } = around;
  const effects = new CommittedEffects({
    ...{ takes, quotas, removals, logger },
    notices: new WatchNotices({ watchers, atEndOfTurn, tell: (router, notice) => notices.tell([router], notice) }),
    stops: new StopOrders(broker.connection),
  });
  const onOver = (outcome: string, count: number): void => ownerMetrics(metrics).failedTraces.inc({ outcome }, count);
  const failures = new FailedTraces({ ...options, logs: around.logs, payloads, onOver });
  return new RouterLogs({
    ...{ clock, random, atEndOfTurn, shardOf: logShard, onDeliveriesDue, claims },
    purgeable: (shard) => unread.purgeable(shard),
    self: { routerId, incarnation, reads: LOG_FORMAT },
    broker: noting(payloads.broker, (...stored) => foreign.stored(...stored)),
    shardCount: LOG_SHARDS,
    provenDead: () => probe.dead,
    formatOf: () => LOG_FORMAT,
    onTouched: (endpointId, touched) => {
      effects.tell(endpointId, touched);
      series.note(endpointId, touched);
      failures.note(endpointId, touched);
      options.onDemand();
    },
    onLooked: (endpointId) => takes.wake(endpointId),
    onEvent: (event) => lines.event(event),
    onError: (name, error) => lines.failed(name, error),
    listener: listenerOf(around),
  });
}

/** A shard is heard from the turn on in which it is taken, to the turn in which it is lost. */
const listenerOf = ({ foreign, lines, quotas, server, takes }: Around): OwnershipListener => ({
  onTaken: (shard, term) => {
    server.serve(shard);
    lines.taken(shard, term);
  },
  onLost: (shard, reason) => {
    server.leave(shard);
    const isOfShard = (endpointId: EndpointId): boolean => logShard(endpointId) === shard;
    takes.silence(isOfShard);
    quotas.leave(isOfShard);
    foreign.leave(shard);
    lines.lost(shard, reason);
  },
  onTrustChanged: (shard, isTrusted) => lines.trustChanged(shard, isTrusted),
  onDone: (deed) => lines.deed(deed),
});

interface Deleting {
  readonly logs: OwnedLogs;
  readonly payloads: LogPayloads;
  readonly unread: UnreadLogs;
  readonly lines: OwnerLogLines;
  readonly owns: (shard: number) => boolean;
}

function openDeletions(options: OwnerOptions, { lines, logs, owns, payloads, unread }: Deleting): EndpointDeletions {
  const { attachments, clock, deletedEndpoints: deleted, logger, metrics, random } = options;
  return new EndpointDeletions({
    ...{ attachments, clock, deleted, logger, logs, random, broker: payloads.broker },
    owns: (endpointId) => owns(logShard(endpointId)),
    purgeable: (endpointId) => unread.purgeable(logShard(endpointId)),
    onEmptied: () => ownerMetrics(metrics).emptied.inc(),
    onUnreadPurged: (endpointId, reason) => lines.event({ kind: 'purged-unread', endpointId, reason }),
  });
}

/** Over the one facts are committed and claims renewed, over the other hosts' words come. */
function watchConnections({ broker, logBroker }: OwnerOptions, logs: RouterLogs): void {
  watchConnection(logBroker.connection, { onLost: () => logs.disconnected(), onBack: () => logs.reconnected() });
  watchConnection(broker.connection, { onBack: () => logs.reconnected() });
}
