import { demandSubject } from '@berth/contracts';
import { SUBMIT_FILL_MAX, type AccountId } from '@berth/domain';
import {
  AttachmentRooms,
  HistoryReadWatch,
  JetStreamAttachments,
  JetStreamBlobs,
  JetStreamChunks,
  JetStreamReaderCursors,
  OwnerRequests,
  type AttachmentRoomsOptions,
  logShard,
  type Broker,
} from '@berth/messaging';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger, MetricRegistry, Readiness } from '@berth/telemetry';
import type { INestApplicationContext, ModuleMetadata, Provider } from '@nestjs/common';
import { AgentInputs } from './agents/agent-inputs.port.js';
import { AgentsModule } from './agents/agents.module.js';
import { Taking } from './agents/attempts/taking.js';
import { admittedBlobs, boundedBlobs, boundedChunks } from './stores/bounded-payloads.js';
import { EdgeModule, EdgeParts } from './edge/edge.module.js';
import { JobWatches } from './edge/job-watches.js';
import { NatsJobNotices } from './notices/nats-job-notices.js';
import { EndpointDirectory } from './directory/endpoint-directory.js';
import { statusBody } from './jobs/job-body.js';
import { LogDeliveries } from './owner/log-deliveries.js';
import { OwnerDemand } from './owner/owner-demand.js';
import { openOwner, type OwnerOptions, type RunningOwner } from './owner/start-owner.js';
import { Owners } from './owners/owners.port.js';
import type { SharedCursors } from './job-stream/shared-cursors.port.js';
import { NatsGoneHints } from './agents/nats-gone-hints.js';
import type { NatsSnapshots } from './directory/nats-snapshots.js';
import type { PlatformSettings } from './platform/platform.js';
import type { NameLookup } from './webhooks/name-lookup.port.js';
import { STORES, storeFullDetail, type Store } from './stores/store-full.js';
import { webhookMetrics } from './webhooks/metrics.js';
import { DeliverySender } from './webhooks/delivery-sender.js';
import { DeliveryTry } from './webhooks/delivery-try.js';
import { WebhookSigner } from './webhooks/webhook-signer.js';
import { WebhookTransport } from './webhooks/webhook-transport.js';

export type Imports = NonNullable<ModuleMetadata['imports']>;

/** What the process has opened. */
export interface JobCoreParts {
  readonly routerId: string;
  /** Over which routers ask each other. */
  readonly broker: Broker;
  /** Over a connection of its own: what answers of the logs' brokers are worth waiting for is short. */
  readonly logBroker: Broker;
  /** Over a connection of its own: payloads must keep nothing else waiting. */
  readonly payloadBroker: Broker;
  readonly hasOneBroker: boolean;
  readonly snapshots: NatsSnapshots;
  readonly nameLookup: NameLookup;
  readonly settings: PlatformSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Called for each part that was started; what was added last is to be stopped first. */
  readonly onStop: (name: string, stop: () => Promise<void> | void) => void;
}

/** Where jobs lie: it provides `Jobs` to every room, works for the agents, and does what time brings about. */
export interface JobCore {
  /** Its own rooms. */
  readonly imports: Imports;
  /** What those need of the process. */
  readonly providers: readonly Provider[];
  readonly readerCursors: SharedCursors;
  watch(readiness: Readiness): void;
  /** Begins its work, over the rooms. */
  start(rooms: INestApplicationContext): void;
  /** What agents wait for here. */
  takesOf(rooms: INestApplicationContext): { withdrawAll(): void };
  /** The process stops: agents that wait are answered. */
  letAgentsGo(rooms: INestApplicationContext): void;
}

/** Keeps the jobs of each endpoint as facts in its log. */
export function openJobCore(parts: JobCoreParts): JobCore {
  const { broker, clock, logger, payloadBroker, random } = parts;
  const blobs = boundedBlobs(new JetStreamBlobs(payloadBroker));
  const chunks = boundedChunks(new JetStreamChunks(payloadBroker));
  const late = new LateBound();
  const onError = (error: unknown): void => logger.warn('how far the logs have been read is not known', { error });
  const history = new HistoryReadWatch({ broker, clock, onError });
  const [blobRooms, chunkRooms] = [openRooms(parts, 'blobs'), openRooms(parts, 'chunks')];
  const requests = new OwnerRequests(broker, clock);
  const owner = openOwner({
    ...{ ...parts, chunkRooms, messageMaxBytes: parts.settings.messageMaxBytes },
    directory: new EndpointDirectory(parts),
    ...{ attachments: new JetStreamAttachments(payloadBroker), deletedEndpoints: parts.snapshots.deletedEndpoints },
    readThrough: (shard) => history.readThrough(shard),
    onDeliveriesDue: (endpointId) => late.sender?.isDue(endpointId),
    onRouterGone: goneTo(parts, { late, requests }),
    onNotice: ({ endpointId, jobs }) => late.watches?.ring(endpointId, jobs),
  });
  const { incarnation, notices } = owner;
  const edge: EdgeParts = {
    ...{ incarnation, chunks, requests, blobs: admittedBlobs(blobs, blobRooms) },
    local: (endpointId, verb, question) => owner.desk.answer(endpointId, verb, question),
    notices: new NatsJobNotices(broker, incarnation),
  };
  return {
    imports: [EdgeModule, AgentsModule],
    providers: [
      { provide: EdgeParts, useValue: edge },
      { provide: AgentInputs, useValue: { blobs, chunks, notices, random } satisfies AgentInputs },
    ],
    readerCursors: new JetStreamReaderCursors(broker),
    watch: (readiness) => {
      watchLogs(readiness, broker, owner);
      watchRoom(readiness, parts, { logs: () => owner.logFill(), blobs: () => blobRooms.fullest });
    },
    start: (app) => {
      const watches = app.get(JobWatches, { strict: false });
      const sender = openSender(parts, { owner, owners: app.get(Owners, { strict: false }), blobs });
      Object.assign(late, { sender, watches });
      const demand = openDemand(parts, owner);
      startAll(parts, { history, blobRooms, chunkRooms, watches, owner, webhooks: sender, demand });
    },
    takesOf: (app) => app.get(Taking, { strict: false }),
    letAgentsGo: (app) => app.get(Taking, { strict: false }).close(),
  };
}

const openDemand = ({ broker, clock, routerId }: JobCoreParts, owner: RunningOwner): OwnerDemand =>
  new OwnerDemand({
    ...{ source: owner.routerLogs, clock, routerId },
    publish: (message) => broker.connection.publish(demandSubject(routerId), JSON.stringify(message)),
  });

const openRooms = ({ broker, clock, logger }: JobCoreParts, kind: AttachmentRoomsOptions['kind']): AttachmentRooms =>
  new AttachmentRooms({
    ...{ kind, broker, clock },
    onError: (error) => logger.warn(`how full the store of ${kind} is could not be seen`, { error }),
  });

/** What is to be done about a router that is gone: nobody waits for it any more. */
function goneTo(
  { broker, logger, snapshots }: JobCoreParts,
  { late, requests }: { readonly late: LateBound; readonly requests: OwnerRequests },
): OwnerOptions['onRouterGone'] {
  const hints = new NatsGoneHints({ connection: broker.connection, hosts: snapshots.hostIds, logger });
  return (incarnation, shards) => {
    requests.letGo(shards);
    late.watches?.lookAgain((endpointId) => shards.has(logShard(endpointId)));
    hints.tell(incarnation);
  };
}

/** Says what takes no new jobs at the moment, in words and as a figure. */
function watchRoom(
  readiness: Readiness,
  { metrics }: JobCoreParts,
  fills: Readonly<Record<Store, () => number>>,
): void {
  const fullest = (): number => Math.max(...Object.values(fills).map((fill) => fill()));
  metrics.gaugeOf({ name: 'router_store_fill_ratio', help: 'How full the fullest store of jobs is.' }, fullest);
  readiness.addDegradation(() => STORES.filter((store) => fills[store]() >= SUBMIT_FILL_MAX).map(storeFullDetail));
}

/** The last that is made of the streams. */
const CLAIMS_STREAM = 'KV_shards';

/** Ready when every shard has an owner for the first time; one that loses its owner later works less well for a moment. */
function watchLogs(
  readiness: Readiness,
  { manager }: Broker,
  owner: Pick<RunningOwner, 'unownedShards' | 'unreadShards'>,
): void {
  let wereOwned = false;
  readiness.add('topology', async () => {
    await manager.streams.info(CLAIMS_STREAM);
  });
  readiness.add('shards', async () => {
    const shards = owner.unownedShards();
    wereOwned ||= shards.length === 0;
    if (!wereOwned) throw new Error(`nobody owns the logs of shards ${shards.join(', ')} yet`);
  });
  readiness.addDegradation(() => {
    const shards = owner.unownedShards();
    return shards.length === 0 ? [] : [`nobody owns the logs of shards ${shards.join(', ')}: their requests wait`];
  });
  readiness.addDegradation(() => {
    const shards = owner.unreadShards();
    const what = `the job history is behind: it misses what is purged of the logs of shards ${shards.join(', ')}`;
    return shards.length === 0 ? [] : [what];
  });
}

interface Work {
  start(): void;
  stop(): Promise<void> | void;
}

function startAll({ onStop }: Pick<JobCoreParts, 'onStop'>, works: Readonly<Record<string, Work>>): void {
  for (const [name, work] of Object.entries(works)) {
    work.start();
    onStop(name, () => work.stop());
  }
}

/** Rooms that are made after the owner, and hear of it. */
class LateBound {
  watches: JobWatches | undefined;
  sender: DeliverySender | undefined;
}

interface Sending {
  readonly owner: RunningOwner;
  readonly owners: Owners;
  readonly blobs: ReturnType<typeof boundedBlobs>;
}

function openSender(parts: JobCoreParts, { blobs, owner, owners }: Sending): DeliverySender {
  const { clock, logger, metrics, nameLookup: names, random, settings, snapshots } = parts;
  const { logs, payloads } = owner;
  const deliveries = new LogDeliveries({ logs, payloads, owners });
  const attempt = new DeliveryTry({
    ...{ deliveries, blobs, clock, random },
    statusBody: (job, output) => statusBody(job, { output, queue: null }),
    signer: new WebhookSigner({ snapshots: snapshots.webhookSecrets, secrets: settings.secrets, clock }),
    transport: new WebhookTransport({ addresses: settings.webhookAddresses, names, clock }),
  });
  const accountOf = (endpointId: Parameters<DeliverySender['isDue']>[0]): AccountId | null =>
    snapshots.endpoints.get(endpointId)?.accountId ?? null;
  return new DeliverySender({ deliveries, attempt, accountOf, clock, metrics: webhookMetrics(metrics), logger });
}
