import {
  hearHosts,
  leaseAnew,
  nextLookAtMs,
  nextTryAtMs,
  performCarry,
  performCommand,
  performRead,
  performRenewals,
  performViewed,
  type AttemptProof,
  type Carry,
  type CarryFrame,
  type CommandOutcome,
  type Demand,
  type CommandContext,
  type EndpointCommand,
  type EndpointId,
  type EndpointState,
  type Illegality,
  type LeaseRenewal,
  type LogFact,
  type LogPlace,
  type Performance,
  type TouchedJob,
  type ViewedCommand,
  type ViewedOutcome,
} from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import { encodeFact } from '../batch/fact-lines.js';
import { demandOf, indexOf } from '../batch/log-index.js';
import type { LogLedger } from '../carrying/log-ledger.js';
import type { LogBroker, LogIndex } from '../ports/log-broker.port.js';
import { GatheredBatches, type Effect, type GatheredBatch } from './gathered-batches.js';
import { settleAppend, type AppendSettlement } from './settle-append.js';

export interface OpenLogOptions {
  readonly endpointId: EndpointId;
  readonly broker: LogBroker;
  readonly clock: Clock;
  readonly random: Random;
  /** Calls `run` when this turn of the event loop is over. */
  readonly atEndOfTurn: (run: () => void) => void;
  /** False while it is not certain that nobody else owns the endpoint: then nothing is decided, read or refused. */
  readonly mayDecide: () => boolean;
  /** Told of the jobs that facts have touched, once these are committed. */
  readonly onTouched: (touched: readonly TouchedJob[]) => void;
  /** A batch is committed, and everybody who waited for it has been told. */
  readonly onCommitted: () => void;
}

/** Why an endpoint's log was let go of. Batches that were not committed by then may or may not be. */
export type LogEnd =
  | Exclude<AppendSettlement, { readonly kind: 'committed' }>
  /** A fault in the rules: the next opening of the endpoint reads what was committed before. */
  | { readonly kind: 'illegal'; readonly why: Illegality; readonly fact: LogFact };

export type SettledAnswer<Answer> =
  | { readonly kind: 'settled'; readonly answer: Answer }
  /** Too much waits to be committed. Nothing was decided, and it may be asked again. */
  | { readonly kind: 'busy' }
  /** This owner does not know what becomes of it and may say nothing: the question comes again. */
  | { readonly kind: 'unsettled' };

/** Must not throw. */
export type Told<Answer> = (outcome: SettledAnswer<Answer>) => void;

/** Commands and other questions of one endpoint that wait to be told, at most. */
const WAITING_MAX = 4_096;

const UNSETTLED = { kind: 'unsettled' } as const;
const BUSY = { kind: 'busy' } as const;

/** The outcome of reading a log. */
export interface ReadLog {
  readonly state: EndpointState;
  /** Sequence of its last batch; 0: there is none. */
  readonly last: number;
  /** How much lies where in it. */
  readonly ledger: LogLedger;
}

/**
 * An endpoint in the hands of its owner: there is one state, which runs ahead of the disk, and whatever is said waits for
 * the batch that it rests on. One append is under way at a time; facts that arrive meanwhile travel together in the next.
 *
 * Safety is the compare-and-set of the append and nothing else: an owner that has been replaced learns it there, before
 * it has told anybody anything.
 */
export class OpenLog {
  readonly #options: OpenLogOptions;
  readonly #state: EndpointState;
  readonly #batches = new GatheredBatches();
  readonly #abort = new AbortController();
  readonly #ended = Promise.withResolvers<LogEnd>();
  readonly ledger: LogLedger;
  #last: number;
  #committed: LogIndex;
  #waiting = 0;
  #isScheduled = false;
  #isAppending = false;
  #isOver = false;

  /** @param read what the log came to when it was read */
  constructor(options: OpenLogOptions, read: ReadLog) {
    this.#options = options;
    this.#state = read.state;
    this.#last = read.last;
    this.#committed = this.#index();
    this.ledger = read.ledger;
  }

  /** Resolves when the log is let go of, after everybody who waited has been told. */
  get ended(): Promise<LogEnd> {
    return this.#ended.promise;
  }

  get endpointId(): EndpointId {
    return this.#options.endpointId;
  }

  /** When the owner must look at what time has brought about, Unix ms; infinite: never. */
  get nextLookAtMs(): number {
    return nextLookAtMs(this.#state);
  }

  /** When a try of a webhook delivery may begin, Unix ms; infinite: none is pending. */
  get nextTryAtMs(): number {
    return nextTryAtMs(this.#state);
  }

  /** Sequence of the last committed batch. */
  get last(): number {
    return this.#last;
  }

  /** The index beside the last committed batch. */
  get committed(): LogIndex {
    return this.#committed;
  }

  /** The jobs that wait and run, as far as that is committed. The pace of the last minute may be ahead of that. */
  get demand(): Demand {
    return demandOf(this.#committed, this.#state.pace.read(this.#nowMs()));
  }

  /** False while somebody waits, or something is to be committed. */
  get isQuiet(): boolean {
    return this.#waiting === 0 && this.#batches.isCommitted;
  }

  perform(command: EndpointCommand, told: Told<CommandOutcome>): void {
    this.#enter((context) => performCommand(this.#state, command, context), told);
  }

  /** A command, and what shall be told of the endpoint with it, which rests on the same batch: a read may rest on the next. */
  performViewed<Value>(command: ViewedCommand<Value>, told: Told<ViewedOutcome<Value>>): void {
    this.#enter((context) => performViewed(this.#state, command, context), told);
  }

  read<Value>(view: (state: EndpointState, atMs: number) => Value, told: Told<Value>): void {
    this.#enter((context) => performRead(this.#state, view, context), told);
  }

  renew(proofs: readonly AttemptProof[], told: Told<readonly LeaseRenewal['outcome'][]>): void {
    this.#enter((context) => performRenewals(this.#state, proofs, context), told);
  }

  carry(frame: Omit<CarryFrame, 'atMs'>, told: Told<Carry>): void {
    this.#enter((context) => performCarry(this.#state, { ...frame, ...context }), told);
  }

  /**
   * The owner stood still, or was cut off: no lease ends before hosts have had the time to say what they hold. It counts at
   * once, before anything that waits for its turn.
   */
  hear(): void {
    hearHosts(this.#state, this.#nowMs());
  }

  /** Hosts are granted what they renew while an endpoint is being opened: every lease is full once it is. At once. */
  leaseAnew(): void {
    leaseAnew(this.#state, this.#nowMs());
  }

  /** Lets go at once. A batch under way may be committed all the same. */
  letGo(): void {
    this.#end({ kind: 'given-up' });
  }

  #enter<Answer>(act: (context: CommandContext) => Performance<Answer>, told: Told<Answer>): void {
    if (this.#isOver) {
      told(UNSETTLED);
    } else if (this.#waiting >= WAITING_MAX || this.#batches.isFull) {
      told(BUSY);
    } else {
      this.#waiting += 1;
      this.#step(act, (outcome) => {
        this.#waiting -= 1;
        told(outcome);
      });
    }
  }

  #step<Answer>(act: (context: CommandContext) => Performance<Answer>, told: Told<Answer>): void {
    const { atEndOfTurn, clock, mayDecide } = this.#options;
    if (this.#isOver || !mayDecide()) {
      told(UNSETTLED);
      return;
    }
    const performed = act({ nowMs: clock.nowMs(), write: (fact) => this.#write(fact) });
    if (performed.kind === 'illegal') {
      told(UNSETTLED);
      this.#end(performed);
      return;
    }
    const { touched } = performed;
    if (touched.length > 0) this.#rest({ tell: () => this.#options.onTouched(touched), drop: () => undefined });
    if (performed.kind === 'again') {
      atEndOfTurn(() => this.#step(act, told));
      return;
    }
    const { answer } = performed;
    this.#rest({ tell: () => told({ kind: 'settled', answer }), drop: () => told(UNSETTLED) });
  }

  #write(fact: LogFact): LogPlace {
    const place = this.#batches.add(encodeFact(fact), () => this.#index());
    if (!this.#isScheduled && !this.#isAppending) {
      this.#isScheduled = true;
      this.#options.atEndOfTurn(() => {
        this.#isScheduled = false;
        void this.#commit();
      });
    }
    return place;
  }

  #nowMs(): number {
    return Math.max(this.#options.clock.nowMs(), this.#state.lastAtMs);
  }

  #index(): LogIndex {
    return indexOf(this.#state, this.#options.clock.nowMs());
  }

  /** Says it when everything that has been decided so far is committed. */
  #rest(effect: Effect): void {
    if (this.#batches.isCommitted) effect.tell();
    else this.#batches.rest(effect);
  }

  /** Batch after batch, until there is nothing more to commit. Never rejects: the port and the clock do not. */
  async #commit(): Promise<void> {
    this.#isAppending = true;
    for (let batch = this.#batches.take(); batch !== null && !this.#isOver; batch = this.#batches.take()) {
      const { endpointId, random } = this.#options;
      const index = batch.index ?? this.#index();
      const settlement = await settleAppend(
        this.#options,
        {
          endpointId,
          after: this.#last,
          batchId: random.uuid(),
          index,
          facts: batch.encode(),
        },
        { signal: this.#abort.signal },
      );
      if (this.#isOver) break;
      if (settlement.kind !== 'committed') {
        this.#end(settlement);
        break;
      }
      this.#committed = index;
      this.#note(batch, settlement.sequence);
      for (const { tell } of this.#batches.committed(batch)) tell();
      this.#options.onCommitted();
    }
    this.#isAppending = false;
  }

  #note(batch: GatheredBatch, sequence: number): void {
    this.#last = sequence;
    batch.place.sequence = sequence;
    this.ledger.add({ sequence, atMs: this.#state.lastAtMs, bytes: batch.bytes });
  }

  #end(end: LogEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#abort.abort();
    for (const { drop } of this.#batches.dropAll()) drop();
    this.#ended.resolve(end);
  }
}
