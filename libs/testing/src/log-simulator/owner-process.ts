import {
  CARRY_AGE_MIN_MS,
  PlatformError,
  nextLookAtMs,
  viewDueDeliveries,
  viewHealth,
  viewJob,
  type BeginTryCommand,
  type Carry,
  type DueDelivery,
  type EndpointId,
  type EndpointState,
  type JobId,
  type JobKey,
  type LogReader,
  type LogReference,
  type TouchedJob,
} from '@berth/domain';
import {
  batchesOf,
  openEndpoint,
  readReferences,
  type LogBroker,
  type LogEnd,
  type LogEntry,
  type OpenLog,
  type Opening,
  type SettledAnswer,
} from '@berth/endpoint-log';
import type { Clock, Random } from '@berth/lifecycle';
import type { Doctor } from './doctor.js';
import { lookOf, NOBODY } from './log-witness.js';
import type { LogWorld, SimulatedProcess } from './log-world.js';
import type { Claimant, SimulatedClaims } from './simulated-claims.js';
import type { Answer, Question, ToldAnswer } from './told-answers.js';

/** Tells the asking process. */
export type Reply = (answer: Answer) => void;

interface Asked {
  readonly question: Question;
  readonly reply: Reply;
}

/** One endpoint in the hands of an owner, or on the way there. */
interface Room {
  readonly endpointId: EndpointId;
  readonly term: number;
  readonly abort: AbortController;
  readonly batchIds: Set<string>;
  readonly broker: LogBroker;
  readonly waiting: Asked[];
  log: OpenLog | null;
  isCarrying: boolean;
  /** What was carried and is still to be purged. */
  purgeDue: number;
}

export interface OwnerOptions {
  readonly world: LogWorld;
  readonly process: SimulatedProcess;
  readonly skewMs: number;
  readonly claims: SimulatedClaims;
  readonly connect: (process: SimulatedProcess) => LogBroker;
  readonly doctor: Doctor;
  /** How far the endpoint's log has come. */
  readonly markOf: (endpointId: EndpointId) => number;
  readonly onTold: (endpointId: EndpointId, told: ToldAnswer) => void;
  readonly onTouched: (endpointId: EndpointId, touched: readonly TouchedJob[]) => void;
  readonly report: (broken: string) => void;
  readonly newBatchId: () => string;
  /** True when no faults are put in any more. */
  readonly isCalm: () => boolean;
  /** What has taken the place behind `after`; null: nothing has. */
  readonly nextOf: (endpointId: EndpointId, after: number) => LogEntry | null;
}

const TICK_MS = 2_500;
/** A turn that comes this much later than it should means that the owner stood still. */
const STALL_MS = 1_000;
const SEND_MAX_MS = 6_000;
const TRIES_AT_ONCE = 3;
const READINGS_MAX = 4;
const PAYLOAD_READINGS_MAX = 4;

/** A router as far as the logs go: it opens, performs, looks, carries, and lets go, with the rooms that are in use. */
export class OwnerProcess implements Claimant {
  readonly process: SimulatedProcess;
  readonly #options: OwnerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #rooms = new Map<EndpointId, Room>();
  #term = 0;
  /** When it was last well, and sure of its claim. */
  #tickedAtMs = 0;
  #count = 0;

  constructor(options: OwnerOptions) {
    this.#options = options;
    this.process = options.process;
    this.#clock = options.world.clockOf(options.process, options.skewMs);
    const { random } = options.world;
    this.#random = { id: (length) => random.id(length), fraction: () => random.fraction(), uuid: options.newBatchId };
    this.#tickedAtMs = options.world.nowMs;
    this.#tick();
  }

  /** Reads its claim: everything that it had open belongs to the term before. */
  own(term: number): void {
    this.#options.world.post(this.process, 0, () => {
      this.#letGoAll();
      this.#term = term;
    });
  }

  get trusts(): boolean {
    return this.#options.claims.trusts(this, this.#term);
  }

  /** Whether questions about the endpoint come here. */
  hears(endpointId: EndpointId): boolean {
    return this.trusts || this.#rooms.has(endpointId);
  }

  /** A question that has come over the network. Who is unsure stays silent. */
  receive(endpointId: EndpointId, question: Question, reply: Reply): void {
    // Who has it open already is told by the room itself whether it may decide.
    const room = this.#rooms.get(endpointId) ?? (this.trusts ? this.#open(endpointId) : null);
    if (room === null) return;
    if (room.log === null) room.waiting.push({ question, reply });
    else this.#ask(room, room.log, { question, reply });
  }

  /** Lets go of an endpoint that nobody asks about, or in the middle of everything. */
  letGo(endpointId: EndpointId): void {
    const room = this.#rooms.get(endpointId);
    if (room === undefined) return;
    this.#rooms.delete(endpointId);
    room.abort.abort('let go');
    room.log?.letGo();
  }

  handOver(): void {
    this.#letGoAll();
    this.#options.claims.free(this);
  }

  carry(endpointId: EndpointId): void {
    const room = this.#rooms.get(endpointId);
    if (room?.log == null || room.isCarrying) return;
    room.isCarrying = true;
    void this.#carry(room, room.log, { references: [], left: READINGS_MAX }).finally(() => {
      room.isCarrying = false;
    });
  }

  #letGoAll(): void {
    for (const endpointId of [...this.#rooms.keys()]) this.letGo(endpointId);
  }

  // --- Opening -----------------------------------------------------------------------------------------------------

  #open(endpointId: EndpointId): Room {
    const { claims, connect, doctor, onTouched, process, world } = this.#options;
    const term = this.#term;
    const connection = connect(process);
    const batchIds = new Set<string>();
    const doctored = doctor.broker?.(connection) ?? connection;
    const broker: LogBroker = {
      append: (batch) => {
        batchIds.add(batch.batchId);
        return doctored.append(batch);
      },
      readNext: (...args) => doctored.readNext(...args),
      read: (...args) => doctored.read(...args),
      purge: (...args) => doctored.purge(...args),
      heads: (...args) => doctored.heads(...args),
    };
    const abort = new AbortController();
    const room: Room = {
      ...{ endpointId, term, abort, batchIds, broker, waiting: [], log: null, isCarrying: false },
      purgeDue: 0,
    };
    this.#rooms.set(endpointId, room);
    const options = {
      ...{ endpointId, broker, clock: this.#clock, random: this.#random, routerId: process.name },
      atEndOfTurn: (run: () => void) => world.post(process, 0, run),
      mayDecide: () => doctor.isCareless === true || claims.trusts(this, term),
      onTouched: (touched: readonly TouchedJob[]) => onTouched(endpointId, touched),
      onCommitted: () => undefined,
    };
    void openEndpoint(options, abort.signal).then(
      (opening) => this.#opened(room, opening),
      (error: unknown) => {
        this.#forget(room);
        if (!(error instanceof PlatformError)) this.#options.report(String(error));
      },
    );
    return room;
  }

  #opened(room: Room, opening: Opening): void {
    if (opening.kind !== 'open') {
      this.#forget(room);
      if (opening.kind === 'broken' || opening.kind === 'illegal') this.#options.report(JSON.stringify(opening));
      return;
    }
    const { log } = opening;
    if (this.#rooms.get(room.endpointId) !== room) {
      log.letGo();
      return;
    }
    room.log = log;
    void log.ended.then((end) => this.#ended(room, log, end));
    this.#options.doctor.opened?.(log);
    for (const asked of room.waiting.splice(0)) this.#ask(room, log, asked);
  }

  #ended(room: Room, log: OpenLog, end: LogEnd): void {
    this.#forget(room);
    const { nextOf, report } = this.#options;
    if (end.kind === 'illegal') report(`${this.process.name}: ${JSON.stringify(end)}`);
    const winner = end.kind === 'lost-to' ? nextOf(room.endpointId, log.last) : null;
    if (winner !== null && 'batchId' in winner && room.batchIds.has(winner.batchId))
      report(`${this.process.name} lost its log to its own batch`);
  }

  #forget(room: Room): void {
    if (this.#rooms.get(room.endpointId) === room) this.#rooms.delete(room.endpointId);
  }

  // --- Asking ------------------------------------------------------------------------------------------------------

  #ask(room: Room, log: OpenLog, { question, reply }: Asked): void {
    const { doctor, markOf, onTold, world } = this.#options;
    const mark = markOf(room.endpointId);
    const enteredAtMs = world.nowMs;
    const told = (outcome: SettledAnswer<Answer>): void => {
      if (outcome.kind !== 'settled') return;
      onTold(room.endpointId, { question, answer: outcome.answer, mark, enteredAtMs });
      reply(outcome.answer);
    };
    if (doctor.ask?.(log, question, told) === true) return;
    switch (question.kind) {
      case 'command':
        log.perform(doctor.command?.(question.command) ?? question.command, (outcome) => {
          told(outcome);
          if (outcome.kind === 'settled') this.#follow(room, outcome.answer);
        });
        return;
      case 'status':
        log.read(
          (state, atMs) => statusOf(state, { endpointId: room.endpointId, jobId: question.jobId as JobId }, atMs),
          told,
        );
        void this.#readPayloads(room, log, question.jobId as JobId);
        return;
      case 'health':
        log.read((state) => ({ kind: 'health' as const, counts: viewHealth(state) }), told);
        return;
      case 'renew':
        log.renew(question.proofs, (outcome) => {
          if (outcome.kind === 'settled') {
            told({ kind: 'settled', answer: { kind: 'renewals', outcomes: outcome.answer } });
          } else told(outcome);
        });
    }
  }

  /** Payloads that are not in memory lie where the state says, unless they were carried meanwhile: then somewhere else. */
  async #readPayloads(room: Room, log: OpenLog, jobId: JobId): Promise<void> {
    const { isCalm, report } = this.#options;
    const wasCalm = isCalm();
    let missing: readonly LogReference[] = [];
    for (let reading = 0; reading < PAYLOAD_READINGS_MAX; reading += 1) {
      const outcome = await new Promise<SettledAnswer<readonly LogReference[]>>((resolve) =>
        log.read((state) => payloadsOf(state, jobId), resolve),
      );
      if (outcome.kind !== 'settled') return;
      const reader = await this.#read(room, outcome.answer);
      missing = outcome.answer.filter(
        (each) => (each.part === 'body' ? reader.body(each) : reader.output(each)) == null,
      );
      if (missing.length === 0) return;
    }
    if (wasCalm) report(`nowhere in the log: ${JSON.stringify(missing)}`);
  }

  #follow(room: Room, answer: Answer): void {
    if (answer.kind === 'deleted' && room.log !== null) {
      void room.broker.purge(room.endpointId, room.log.last - 1).catch(() => undefined);
    }
  }

  /** Begins a try, calls the webhook, which is slow, and says how that went. */
  #deliver(room: Room, { attempt, jobId }: DueDelivery): void {
    this.#count += 1;
    const token = `${this.process.name}-${room.term}-${this.#count}-${this.#options.world.random.integer(0, 1e9)}`;
    const command = { kind: 'begin-try', jobId, attempt, token } as const;
    this.receive(room.endpointId, { kind: 'command', command }, (answer) => {
      if (answer.kind === 'begun') this.#send(room.endpointId, command);
    });
  }

  #send(endpointId: EndpointId, { attempt, jobId, token }: Pick<BeginTryCommand, 'attempt' | 'jobId' | 'token'>): void {
    const { world } = this.#options;
    world.post(this.process, world.random.integer(20, SEND_MAX_MS), () => {
      const isSuccess = world.random.chance(0.6);
      const ended = { isSuccess, statusCode: isSuccess ? 200 : 500, error: null };
      const command = { kind: 'end-try', jobId, attempt, token, ...ended } as const;
      this.receive(endpointId, { kind: 'command', command }, () => undefined);
    });
  }

  // --- What time brings --------------------------------------------------------------------------------------------

  #tick(): void {
    const { world } = this.#options;
    world.post(this.process, TICK_MS, () => this.#tick());
    if (!this.trusts) {
      if (this.#options.claims.holder !== this) this.#letGoAll();
      return;
    }
    this.#hearAfterStall();
    for (const room of this.#rooms.values()) if (room.log !== null) this.#tickRoom(room, room.log);
    if (world.random.chance(0.2)) void this.#wake();
  }

  /** An owner that stood still, or was not sure for a while, hears the hosts before any lease ends: at the very instant of a look. */
  #hearAfterStall(): void {
    const { nowMs } = this.#options.world;
    const isStalled = nowMs - this.#tickedAtMs > TICK_MS + STALL_MS;
    this.#tickedAtMs = nowMs;
    if (!isStalled) return;
    for (const { log } of this.#rooms.values()) log?.hear();
  }

  #tickRoom(room: Room, log: OpenLog): void {
    const { random } = this.#options.world;
    const ignore = (): void => undefined;
    log.read(nextLookAtMs, (outcome) => {
      if (outcome.kind !== 'settled' || outcome.answer > this.#clock.nowMs()) return;
      this.#hearAfterStall();
      const command = { kind: 'look', fraction: random.fraction() } as const;
      this.#ask(room, log, { question: { kind: 'command', command }, reply: ignore });
    });
    log.read(
      (state, atMs) => viewDueDeliveries(state, atMs, TRIES_AT_ONCE),
      (outcome) => {
        if (outcome.kind === 'settled') for (const due of outcome.answer) this.#deliver(room, due);
      },
    );
    if (room.purgeDue > 0) void this.#purge(room);
    if (random.chance(0.12)) this.carry(room.endpointId);
  }

  /** Opens what is due and nobody has asked for. */
  async #wake(): Promise<void> {
    const broker = this.#options.connect(this.process);
    try {
      for await (const { endpointId, index } of broker.heads(0)) {
        const isDue = index === null || index.running > 0 || (index.dueAtMs ?? Infinity) <= this.#clock.nowMs();
        if (isDue && this.trusts && !this.#rooms.has(endpointId)) this.#open(endpointId);
      }
    } catch {
      // It comes round again.
    }
  }

  // --- Carrying ----------------------------------------------------------------------------------------------------

  async #carry(
    room: Room,
    log: OpenLog,
    { left, references }: { readonly references: readonly LogReference[]; readonly left: number },
  ): Promise<void> {
    const through = log.ledger.through(this.#clock.nowMs() - CARRY_AGE_MIN_MS);
    const frame = { through, log: await this.#read(room, references), isWorth: () => true };
    const outcome = await new Promise<SettledAnswer<Carry>>((resolve) => log.carry(frame, resolve));
    if (outcome.kind !== 'settled') return;
    if (outcome.answer.kind === 'unread') {
      if (left === 0) return;
      await this.#carry(room, log, { references: [...references, ...outcome.answer.references], left: left - 1 });
      return;
    }
    if (outcome.answer.kind !== 'carried') return;
    room.purgeDue = outcome.answer.covers;
    if (this.#options.world.random.chance(0.7)) await this.#purge(room);
  }

  /** What is not found there is asked for anew. */
  #read({ broker, endpointId }: Room, references: readonly LogReference[]): Promise<LogReader> {
    const read = batchesOf(broker, endpointId);
    return readReferences(read, references).catch(() => readReferences(read, []));
  }

  async #purge(room: Room): Promise<void> {
    const through = this.#options.doctor.purgeThrough?.(room.purgeDue, room.log?.last ?? 0) ?? room.purgeDue;
    if (through === 0) return;
    try {
      await room.broker.purge(room.endpointId, through);
      room.log?.ledger.purged(through);
      room.purgeDue = 0;
    } catch {
      // Repeated with the next tick.
    }
  }
}

function payloadsOf(state: EndpointState, jobId: JobId): readonly LogReference[] {
  const job = state.jobs.get(jobId);
  if (job === undefined) return [];
  const { attempt } = job.data;
  const of = (part: LogReference['part'], sequence: number | null | undefined): readonly LogReference[] =>
    sequence == null ? [] : [{ part, jobId, attempt, sequence }];
  const body = job.body === null ? of('body', job.place.sequence) : [];
  return [...body, ...(job.output === null ? of('output', job.outputPlace?.sequence) : [])];
}

function statusOf(state: EndpointState, key: JobKey, atMs: number): Extract<Answer, { kind: 'status' }> {
  const data = state.jobs.get(key.jobId)?.data;
  return { kind: 'status', look: viewJob(state, key, atMs) === null || data === undefined ? NOBODY : lookOf(data) };
}
