import type { AnswerOf, EndpointSnapshot, OwnerVerb, QuestionOf } from '@berth/contracts';
import {
  NOTHING_UNREAD,
  PlatformError,
  encodeJson,
  type AccountId,
  type AttemptProof,
  type EndpointId,
  type HostId,
  type JobId,
  type JobSight,
  type JobWish,
  type Payload,
  type TakeWish,
  type TouchedJob,
  type WorkerId,
} from '@berth/domain';
import { LogOwner, type LogBroker } from '@berth/endpoint-log';
import { atEndOfTurn } from '@berth/lifecycle';
import { RecordedTraces, type Span } from '@berth/telemetry';
import { ManualClock, SeededRandom } from '@berth/testing';
import { ModelLogBroker } from '@berth/testing/log-simulator';
import { ChunkQuotas } from '../../src/owner/logs/chunk-quotas.js';
import { DeletedLogs } from '../../src/owner/deletions/deleted-logs.js';
import { OwnedLogs, type Said } from '../../src/owner/logs/endpoint-logs.js';
import type { WaitingTakes } from '../../src/owner/takes/waiting-takes.port.js';
import { JobAssigner } from '../../src/owner/takes/job-assigner.js';
import { JobWatchers } from '../../src/owner/effects/job-watchers.js';
import { LogPayloads } from '../../src/owner/logs/log-payloads.js';
import { OwnerDesk } from '../../src/owner/owner-desk.js';

export const ENDPOINT = 'e1' as EndpointId;
export const HOST = 'h1' as HostId;
const WORKER = 'w1' as WorkerId;
const SHARD = 3;
const T0 = 1_800_000_000_000;

export const endpointSnapshot = (more: Partial<EndpointSnapshot> = {}): EndpointSnapshot => ({
  id: ENDPOINT,
  accountId: 'a1' as AccountId,
  type: 'QUEUE',
  executionTimeoutMs: 600_000,
  workersMax: 3,
  isDeleted: false,
  ...more,
});

/** Too long to be kept in memory. */
export const large = (letter = 'x'): Payload => ({ kind: 'inline', json: encodeJson(letter.repeat(1_000)) });

/** The desk of one owner over the model of the log's broker. */
export class DeskScene {
  readonly clock = new ManualClock(T0);
  readonly model = new ModelLogBroker();
  readonly snapshots = new Map<EndpointId, EndpointSnapshot>([[ENDPOINT, endpointSnapshot()]]);
  readonly touched: TouchedJob[] = [];
  readonly watchers = new JobWatchers(this.clock);
  readonly quotas = new ChunkQuotas({
    rooms: { freeBytesOf: () => Number.MAX_SAFE_INTEGER, bring: () => undefined },
    shardOf: () => 0,
  });
  /** Sequences behind which single batches were read. */
  readonly reads: number[] = [];
  readonly unreadable: number[] = [];
  readonly wishes: TakeWish[] = [];
  readonly withdrawn: string[] = [];
  /** Of whoever asked last for a take. */
  lastSecret = '';
  isTrusted = true;
  /** Steps of recorded traces that are over. */
  readonly spans: Span[] = [];
  readonly traces = new RecordedTraces({
    ...{ clock: this.clock, random: new SeededRandom(2), permille: 0 },
    sink: (span) => this.spans.push(span),
  });
  /** Share of the room that is taken in which the log lies. */
  fill = 0;
  /** Appends arrive when they are let, one after the other. */
  isHolding = false;
  readonly held: (() => void)[] = [];
  /** The broker does not answer who reads a batch. */
  isAway = false;
  /** It answers with something that is no batch of facts. */
  isHarmed = false;
  /** Told of what happened to jobs, once it is committed. */
  onTouched: (endpointId: EndpointId, touched: readonly TouchedJob[]) => void = () => undefined;
  /** Called before a batch is read. */
  onRead: () => Promise<void> = () => Promise.resolve();
  readonly payloads: LogPayloads;
  readonly owner: LogOwner;
  readonly logs: OwnedLogs;
  readonly assigner: JobAssigner;
  readonly desk: OwnerDesk;
  #count = 0;

  constructor() {
    this.payloads = new LogPayloads({
      broker: this.#broker(),
      onUnreadable: (_, sequence) => this.unreadable.push(sequence),
    });
    this.owner = new LogOwner({
      ...{ routerId: 'r1', broker: this.payloads.broker, clock: this.clock, random: new SeededRandom(1) },
      atEndOfTurn,
      shardOf: () => SHARD,
      trusts: () => this.isTrusted,
      purgeable: () => NOTHING_UNREAD,
      onTouched: (endpointId, touched) => {
        this.touched.push(...touched);
        this.onTouched(endpointId, touched);
      },
      onDeliveriesDue: () => undefined,
      onLooked: () => undefined,
      onEvent: () => undefined,
    });
    this.logs = new OwnedLogs({
      ask: (...asked) => this.owner.ask(...asked),
      fillOf: () => this.fill,
      bring: () => undefined,
    });
    const { clock, logs, payloads, quotas, watchers } = this;
    this.assigner = new JobAssigner({ logs, payloads, clock });
    this.desk = new OwnerDesk({
      ...{ logs, payloads, clock, quotas, watchers, traces: this.traces },
      deletedLogs: new DeletedLogs(clock),
      endpoints: { snapshotOf: (endpointId) => Promise.resolve(this.snapshots.get(endpointId) ?? null) },
      takes: this.#takes(),
    });
  }

  /** The shard is this owner's. */
  async start(): Promise<this> {
    await this.owner.take(SHARD);
    return this;
  }

  ask<Verb extends OwnerVerb>(verb: Verb, question: QuestionOf<Verb>): Promise<Said<AnswerOf<Verb>>> {
    return this.desk.answer(ENDPOINT, verb, question);
  }

  async answer<Verb extends OwnerVerb>(verb: Verb, question: QuestionOf<Verb>): Promise<AnswerOf<Verb>> {
    const said = await this.ask(verb, question);
    if (said === 'silent' || said.kind === 'refused') throw new Error(`no answer: ${JSON.stringify(said)}`);
    return said.answer;
  }

  find(jobId: JobId): Promise<JobSight | null> {
    return this.answer('find', { jobId, watcher: null });
  }

  wish(more: Partial<JobWish> = {}, input: Payload = { kind: 'inline', json: encodeJson({}) }): JobWish {
    return {
      ...{ jobId: `job-${(this.#count += 1)}` as JobId, origin: 'run', retentionMs: 1_800_000 },
      ...{ executionTimeoutMs: 600_000, isLowPriority: false, webhook: null, bodyBytes: 2, ttlMs: 86_400_000 },
      body: { input, extras: encodeJson({}), sealedExtras: null, traceparent: null },
      ...more,
    };
  }

  async submit(more: Partial<JobWish> = {}, input?: Payload): Promise<JobId> {
    const wish = this.wish(more, input);
    const command = { kind: 'submit', sentAtMs: this.clock.nowMs(), jobs: [wish], key: null } as const;
    const answer = await this.answer('perform', { command });
    if (answer.kind !== 'accepted') throw new Error(JSON.stringify(answer));
    return wish.jobId;
  }

  takeWish(slots = 1): TakeWish {
    const takeId = `take-${(this.#count += 1)}`;
    return { takeId, hostId: HOST, workerId: WORKER, slots, secret: `s-${takeId}` };
  }

  async take(slots = 1): Promise<readonly AttemptProof[]> {
    const takes = await this.assigner.give(ENDPOINT, [this.takeWish(slots)]);
    if (takes === 'silent') throw new Error('nobody answers');
    return (takes[0]?.jobs ?? []).map((given) => ({ ...given, hostId: HOST }));
  }

  async takeOne(): Promise<AttemptProof> {
    const [proof] = await this.take();
    if (proof === undefined) throw new Error('nothing waits');
    return proof;
  }

  finish(proof: AttemptProof, output: Payload | null = null): Promise<AnswerOf<'perform'>> {
    const outputBytes = output?.kind === 'inline' ? output.json.length : 0;
    const shown = { output, outputBytes, chunks: 0, logTail: [] };
    return this.answer('perform', {
      command: { kind: 'finish', ...proof, state: 'COMPLETED', error: null, ...shown },
    });
  }

  #broker(): LogBroker {
    const { model } = this;
    return {
      append: async (batch) => {
        if (this.isHolding) await new Promise<void>((resolve) => this.held.push(resolve));
        return model.append(batch);
      },
      readNext: async (endpointId, after) => {
        this.reads.push(after);
        await this.onRead();
        if (this.isAway) throw new PlatformError('service-unavailable', 'The broker does not answer.');
        const entry = await model.readNext(endpointId, after);
        return this.isHarmed && entry !== null && 'facts' in entry ? { ...entry, facts: Buffer.from('{') } : entry;
      },
      read: (endpointId, after) => model.read(endpointId, after),
      purge: (endpointId, through) => model.purge(endpointId, through),
      heads: () => model.heads(),
    };
  }

  #takes(): WaitingTakes {
    return {
      take: async (endpointId, { wish }) => {
        const takes = await this.assigner.give(endpointId, [wish]);
        return takes === 'silent' ? takes : this.assigner.assign(endpointId, takes[0] ?? { jobs: [] });
      },
      isLastAsker: ({ secret }) => secret === this.lastSecret,
      withdraw: (_, { workerId }) => this.withdrawn.push(workerId),
      wake: () => undefined,
      waitingWishes: () => this.wishes,
    };
  }
}
