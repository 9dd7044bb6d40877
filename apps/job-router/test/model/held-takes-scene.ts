import {
  ENDPOINT_BOUNDS_DEFAULT,
  NOTHING_UNREAD,
  encodeJson,
  viewAssignment,
  type AttemptGiven,
  type CommandOutcome,
  type EndpointCommand,
  type EndpointId,
  type EndpointState,
  type HostId,
  type JobId,
  type JobWish,
  type LogFact,
  type TakeAnswered,
  type TakeWish,
  type WorkerId,
} from '@berth/domain';
import type { AssignedJob } from '@berth/contracts';
import { LogOwner, decodeLines, type LogBroker, type OpenLog, type SettledAnswer } from '@berth/endpoint-log';
import { atEndOfTurn } from '@berth/lifecycle';
import { logShard } from '@berth/messaging';
import { silentLogger } from '@berth/telemetry';
import { ManualClock, SeededRandom, letRun } from '@berth/testing';
import { HeldLogBroker } from '@berth/testing/log-simulator';
import type { TakeAnswer } from '../../src/owner/takes/held-take.js';
import type { GivenJobs, JobGiving } from '../../src/owner/takes/waiting-takes.port.js';
import { HeldTakes } from '../../src/owner/takes/held-takes.js';

export const ENDPOINT = 'ep' as EndpointId;

/** Turns of the event loop within which everything has happened that needs no clock and no broker. */
const TURNS = 12;

/** One wait at the owner. */
export interface Asked {
  readonly takeId: string;
  readonly slots: number;
  /** Null: it is held. */
  answer: TakeAnswer | null;
}

export interface SceneOptions {
  readonly endpointId?: EndpointId;
  readonly jobsPerAnswer?: number;
  /** Null: a broker that the test holds. */
  readonly logs?: LogBroker | null;
}

/** Takes that are held over the real log of one endpoint. */
export class HeldTakesScene implements JobGiving {
  readonly clock = new ManualClock(1_800_000_000_000);
  readonly broker = new HeldLogBroker();
  readonly held: HeldTakes;
  readonly asked: Asked[] = [];
  /** Wishes of each command that gave jobs. */
  readonly given: (readonly string[])[] = [];
  /** False: what was taken cannot be read. */
  isReadable = true;
  isTrusted = true;
  /** Nobody hears that anything happened, nor is anybody offered a job. */
  deaf = false;
  /** How many wishes the owner was asked about. */
  wishesGiven = 0;
  readonly #owner: LogOwner;
  readonly #endpointId: EndpointId;
  #jobs = 0;
  #takes = 0;

  constructor({ endpointId = ENDPOINT, jobsPerAnswer = 64, logs = null }: SceneOptions = {}) {
    const { clock } = this;
    const broker = logs ?? this.broker;
    this.#endpointId = endpointId;
    this.held = new HeldTakes({ giving: this, clock, logger: silentLogger, atEndOfTurn, jobsPerAnswer });
    this.#owner = new LogOwner({
      ...{ routerId: 'router', broker, clock, random: new SeededRandom(1), atEndOfTurn },
      shardOf: logShard,
      trusts: () => this.isTrusted,
      purgeable: () => NOTHING_UNREAD,
      onTouched: (endpointId) => this.#wake(endpointId),
      onLooked: (endpointId) => this.#wake(endpointId),
      onDeliveriesDue: () => undefined,
      onEvent: () => undefined,
    });
  }

  /** The endpoint is open, and from here on appends arrive when they are let. */
  async start(): Promise<this> {
    await this.#owner.take(logShard(this.#endpointId));
    this.#owner.start();
    await this.read((state) => state.term);
    this.broker.isHolding = true;
    return this;
  }

  /** Everything happens that can. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1) await letRun();
  }

  /** Lets appends arrive, those that follow from them too, until nothing is to be committed. */
  async commit(): Promise<void> {
    await this.settle();
    for (let sent = -1; sent !== this.broker.sent.length;) {
      sent = this.broker.sent.length;
      await this.broker.release();
      await this.settle();
    }
  }

  wish({
    slots = 1,
    takeId = `t${(this.#takes += 1)}`,
    workerId = 'w',
  }: { readonly slots?: number; readonly takeId?: string; readonly workerId?: string } = {}): TakeWish {
    return { takeId, hostId: 'h' as HostId, workerId: workerId as WorkerId, slots, secret: `s-${takeId}` };
  }

  /** Asks the owner, and notes what it says. */
  ask(wish: TakeWish = this.wish(), waitMs = 5_000): Asked {
    const asked: Asked = { takeId: wish.takeId, slots: wish.slots, answer: null };
    this.asked.push(asked);
    void this.held.take(this.#endpointId, { wish, waitMs }).then((answer) => (asked.answer = answer));
    return asked;
  }

  job({
    isLowPriority = false,
    ttlMs = 3_600_000,
  }: { readonly isLowPriority?: boolean; readonly ttlMs?: number } = {}): JobWish {
    this.#jobs += 1;
    const json = encodeJson({});
    return {
      ...{ jobId: `j${this.#jobs}` as JobId, origin: 'run', retentionMs: 60_000, executionTimeoutMs: 600_000 },
      ...{ isLowPriority, webhook: null, bodyBytes: json.length, ttlMs },
      body: { input: { kind: 'inline', json }, extras: encodeJson({}), sealedExtras: null, traceparent: null },
    };
  }

  /** As the owner does: workers that wait may get the jobs at once. */
  submit(...jobs: readonly JobWish[]): Promise<SettledAnswer<CommandOutcome> | 'refused'> {
    return this.perform(() => ({
      kind: 'submit',
      sentAtMs: this.clock.nowMs(),
      jobs,
      key: null,
      takers: this.deaf ? [] : this.held.waitingWishes(this.#endpointId),
      bounds: ENDPOINT_BOUNDS_DEFAULT,
    }));
  }

  giveBack({ attempt, jobId, token }: AttemptGiven, { isCharged }: { readonly isCharged: boolean }): Promise<unknown> {
    const proof = { jobId, attempt, token, hostId: 'h' as HostId };
    return this.perform(() => ({
      ...{ kind: 'give-up', reason: 'given back', logTail: [], fraction: 0.5 },
      ...proof,
      isCharged,
    }));
  }

  perform(command: () => EndpointCommand): Promise<SettledAnswer<CommandOutcome> | 'refused'> {
    return this.#use((log, told) => log.perform(command(), told));
  }

  /** What the state says, with everything that it rests on committed. */
  async read<Value>(view: (state: EndpointState, atMs: number) => Value): Promise<Value> {
    const reading = this.#read(view);
    await this.commit();
    return reading;
  }

  /** Somebody else owns the shard. */
  loseShard(): void {
    this.#owner.drop(logShard(this.#endpointId));
  }

  stop(): void {
    this.held.stop();
    this.#owner.stop();
  }

  /** All that was ever committed. */
  facts(): readonly LogFact[] {
    return this.broker.model
      .history(this.#endpointId)
      .flatMap((entry) => ('facts' in entry ? decodeLines(entry.facts) : []));
  }

  // --- The port ------------------------------------------------------------------------------------------------------

  async give(_: EndpointId, wishes: readonly TakeWish[]): Promise<readonly TakeAnswered[] | 'silent'> {
    this.wishesGiven += wishes.length;
    const outcome = await this.perform(() => ({ kind: 'take', sentAtMs: this.clock.nowMs(), wishes }));
    const takes = outcome !== 'refused' && outcome.kind === 'settled' ? outcome.answer : null;
    if (takes?.kind !== 'takes') return 'silent';
    const served = takes.takes.filter(({ jobs }) => jobs.length > 0).map(({ takeId }) => takeId);
    if (served.length > 0) this.given.push(served);
    return takes.takes;
  }

  async assign(_: EndpointId, { jobs }: GivenJobs): Promise<readonly AssignedJob[]> {
    if (!this.isReadable) throw new Error('the log cannot be read');
    return this.#read((state, atMs) =>
      jobs.flatMap(({ attempt, jobId }) => {
        const assignment = viewAssignment(state, jobId, atMs);
        if (assignment?.attempt !== attempt || assignment.body.value === null) return [];
        const { body, hostId: _host, ...rest } = assignment;
        return [{ ...rest, body: assignment.body.value }];
      }),
    );
  }

  #wake(endpointId: EndpointId): void {
    if (!this.deaf) this.held.wake(endpointId);
  }

  async #read<Value>(view: (state: EndpointState, atMs: number) => Value): Promise<Value> {
    const outcome = await this.#use<Value>((log, told) => log.read(view, told));
    if (outcome === 'refused' || outcome.kind !== 'settled') throw new Error('the log could not be read');
    return outcome.answer;
  }

  #use<Answer>(
    act: (log: OpenLog, told: (outcome: SettledAnswer<Answer>) => void) => void,
  ): Promise<SettledAnswer<Answer> | 'refused'> {
    return new Promise((resolve) => {
      this.#owner.ask(this.#endpointId, { use: (log) => act(log, resolve), refuse: () => resolve('refused') });
    });
  }
}

/** The ids of the jobs that an answer brought. */
export const idsOf = ({ answer }: Asked): readonly string[] | 'silent' | null =>
  answer === null || answer === 'silent' ? answer : answer.map(({ jobId }) => jobId);
