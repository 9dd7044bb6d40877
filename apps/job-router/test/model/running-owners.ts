import {
  ROUTER_INBOX,
  noticeSubject,
  type AnswerOf,
  type EndpointSnapshot,
  type NoticeMessage,
  type OwnerVerb,
  type QuestionOf,
} from '@berth/contracts';
import { encodeJson, type EndpointId, type JobId, type JobWish, type Payload } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import {
  Broker,
  JetStreamAttachments,
  LOG_ANSWER_MS,
  NatsLogBroker,
  OwnerRequests,
  connectNats,
  encodeOwnerQuestion,
  ensureTopology,
  readNotice,
  type TopologySize,
} from '@berth/messaging';
import { MetricRegistry, NO_TRACES, silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import type { NatsFixture } from '@berth/testing/servers';
import type { NatsConnection } from '@nats-io/transport-node';
import { composeOwner, type RunningOwner } from '../../src/owner/compose-owner.js';
import { endpointSnapshot } from './desk-scene.js';

const SIZE: TopologySize = { replicas: 1, storageBytes: 4 * 1024 ** 3, memoryBytes: 64 * 1024 ** 2 };

/** A router's part that owns logs, in this process. */
export interface TestOwner {
  readonly running: RunningOwner;
  readonly metrics: MetricRegistry;
  readonly requests: OwnerRequests;
  /** What callers that are held there were told. */
  readonly notices: NoticeMessage[];
  /** Routers that it has found gone. */
  readonly gone: { readonly incarnation: string; readonly shards: ReadonlySet<number> }[];
  readonly deliveriesDue: EndpointId[];
  readonly shards: () => readonly number[];
  /** The next answer of another owner is lost on its way here. */
  loseAnswer(): void;
  /** Ends like a process that dies: nobody hears of it again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** Several owners over one broker, and a control plane that tells them of endpoints. */
export class RunningOwners {
  readonly snapshots = new Map<EndpointId, EndpointSnapshot>();
  /** Through which the job history has read each shard. */
  readThrough = Number.MAX_SAFE_INTEGER;
  readonly #nats: NatsFixture;
  readonly #owners = new Set<TestOwner>();
  readonly #onDeleted = new Set<() => void>();
  readonly #ends: Promise<void>[] = [];
  #broker: Broker | undefined;
  #count = 0;

  constructor(nats: NatsFixture) {
    this.#nats = nats;
  }

  /** A connection of the test's own. */
  async broker(): Promise<Broker> {
    this.#broker ??= await this.#open(this.#nats.server.url);
    return this.#broker;
  }

  async start(size = SIZE): Promise<void> {
    const tools = { part: 'jobs', size, clock: systemClock, random: systemRandom } as const;
    await ensureTopology({ ...tools, broker: await this.broker(), onChange: () => undefined });
  }

  async close(): Promise<void> {
    await this.stopAll();
    await Promise.all(this.#ends);
    await this.#broker?.connection.close();
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#owners].map((owner) => owner.stop()));
  }

  /** @param logUrl where the broker is reached for the logs, if not at its own address */
  async add(routerId: string, logUrl = this.#nats.server.url): Promise<TestOwner> {
    const broker = await this.#open(this.#nats.server.url);
    const logBroker = await this.#open(logUrl, LOG_ANSWER_MS);
    const [metrics, notices, deliveriesDue] = [new MetricRegistry(), [] as NoticeMessage[], [] as EndpointId[]];
    const gone: TestOwner['gone'] = [];
    const running = composeOwner({
      ...{ routerId, broker, logBroker, metrics, hasOneBroker: true },
      attachments: new JetStreamAttachments(broker),
      chunkRooms: { freeBytesOf: () => Number.MAX_SAFE_INTEGER, bring: () => undefined },
      directory: { snapshotOf: (endpointId) => Promise.resolve(this.snapshots.get(endpointId) ?? null) },
      deletedEndpoints: {
        list: () => [...this.snapshots.values()].filter(({ isDeleted }) => isDeleted).map(({ id }) => id),
        onDeleted: (listener) => this.#onDeleted.add(listener),
      },
      messageMaxBytes: broker.connection.info?.max_payload ?? 1024 ** 2,
      readThrough: () => this.readThrough,
      onDeliveriesDue: (endpointId) => deliveriesDue.push(endpointId),
      onDemand: () => undefined,
      onRouterGone: (incarnation, shards) => gone.push({ incarnation, shards }),
      onNotice: (notice) => notices.push(notice),
      ...{ clock: systemClock, random: systemRandom, logger: silentLogger, traces: NO_TRACES },
    });
    const { connection } = broker;
    connection.subscribe(noticeSubject(running.incarnation), {
      callback: (_, { data }) => {
        const reading = readNotice(data);
        if (reading.kind === 'value') notices.push(reading.value);
      },
    });
    const close = async (): Promise<void> => {
      this.#owners.delete(owner);
      await Promise.all([connection.close(), logBroker.connection.close()]);
    };
    const inbox = new LossyInbox(broker);
    const owner: TestOwner = {
      ...{ running, metrics, notices, deliveriesDue, gone, requests: new OwnerRequests(inbox.broker, systemClock) },
      loseAnswer: () => inbox.lose(),
      shards: () => running.routerLogs.ownedShards().map(({ shard }) => shard),
      crash: async () => {
        await close();
        // Only so that nothing of it is left in this process.
        this.#ends.push(running.stop());
      },
      stop: async () => {
        if (!this.#owners.has(owner)) return;
        await running.stop();
        await close();
      },
    };
    this.#owners.add(owner);
    running.start();
    return owner;
  }

  /** An endpoint that no other test has. */
  newEndpoint(): EndpointId {
    const id = `e${(this.#count += 1)}-${systemRandom.id(8)}` as EndpointId;
    this.snapshots.set(id, endpointSnapshot({ id }));
    return id;
  }

  delete(endpointId: EndpointId): void {
    this.snapshots.set(endpointId, endpointSnapshot({ id: endpointId, isDeleted: true }));
    for (const listener of this.#onDeleted) listener();
  }

  /** As an edge asks: its own desk first, then whoever owns the endpoint, until somebody answers. */
  ask<Verb extends OwnerVerb>(
    { requests, running }: TestOwner,
    endpointId: EndpointId,
    [verb, question]: readonly [Verb, QuestionOf<Verb>],
  ): Promise<AnswerOf<Verb>> {
    return eventually(
      async () => {
        const said = await running.desk.answer(endpointId, verb, question);
        if (said !== 'silent' && said.kind === 'answer') return said.answer;
        const body = Buffer.from(encodeOwnerQuestion({ endpointId, question }));
        const outcome = await requests.ask({ endpointId, verb, body, timeoutMs: 1_000 });
        if (outcome.kind === 'reply' && outcome.reply.kind === 'answer') return outcome.reply.answer;
        throw new Error(`nobody answers ${verb} for ${endpointId}: ${JSON.stringify([said, outcome])}`);
      },
      { deadlineMs: 90_000 },
    );
  }

  async submit(owner: TestOwner, endpointId: EndpointId, input?: Payload): Promise<JobId> {
    const wish = wishOf(systemRandom.uuid() as JobId, input);
    const command = { kind: 'submit', sentAtMs: systemClock.nowMs(), jobs: [wish], key: null } as const;
    const answer = await this.ask(owner, endpointId, ['perform', { command }]);
    if (answer.kind !== 'accepted') throw new Error(JSON.stringify(answer));
    return wish.jobId;
  }

  async logOf(endpointId: EndpointId): Promise<number> {
    const broker = new NatsLogBroker({ broker: await this.broker(), clock: systemClock });
    let batches = 0;
    for await (const _ of broker.read(endpointId, 0)) batches += 1;
    return batches;
  }

  async #open(url: string, timeoutMs?: number): Promise<Broker> {
    const connection = await connectNats({
      ...{ url, name: 'test', credentials: { kind: 'none' }, connectWithinMs: 60_000, inboxPrefix: ROUTER_INBOX },
      ...{ clock: systemClock, random: systemRandom },
    });
    return Broker.over({ connection, inboxPrefix: ROUTER_INBOX, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  }
}

/** A broker of which single messages do not arrive. */
class LossyInbox {
  readonly broker: Broker;
  #toLose = 0;

  constructor(broker: Broker) {
    const { connection } = broker;
    const subscribe: NatsConnection['subscribe'] = (subject, options = {}) =>
      connection.subscribe(subject, {
        ...options,
        callback: (error, message) => {
          if (this.#toLose === 0 || message.data.byteLength === 0) void options.callback?.(error, message);
          else this.#toLose -= 1;
        },
      });
    const lossy = Object.create(connection, { subscribe: { value: subscribe } }) as NatsConnection;
    const { noteUnreadable } = broker;
    this.broker = { connection: lossy, noteUnreadable, newInbox: () => broker.newInbox() } as unknown as Broker;
  }

  lose(): void {
    this.#toLose += 1;
  }
}

const wishOf = (jobId: JobId, input: Payload = { kind: 'inline', json: encodeJson({}) }): JobWish => ({
  ...{ jobId, origin: 'run', retentionMs: 1_800_000, executionTimeoutMs: 600_000, isLowPriority: false },
  ...{ webhook: null, bodyBytes: 2, ttlMs: 86_400_000 },
  body: { input, extras: encodeJson({}), sealedExtras: null, traceparent: null },
});
