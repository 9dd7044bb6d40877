import type { LogFact } from '@berth/domain';
import type { LogIndex } from '@berth/endpoint-log';

/** What the facts so far say of one job, in plain sight. It stays when the job is gone. */
interface WitnessedJob {
  readonly jobId: string;
  readonly isLow: boolean;
  state: string;
  attempt: number;
  charged: number;
  unstarted: number;
  isStarted: boolean;
  queuePlace: number;
  notBeforeMs: number;
  queuedAtMs: number;
  expiresAtMs: number;
  retentionMs: number;
  endedAtMs: number | null;
  holder: { readonly token: string; readonly hostId: string; readonly takeId: string; readonly atMs: number } | null;
  readonly endedTokens: Set<string>;
  /** What it looked like from each fact on. */
  readonly looks: { readonly from: number; readonly look: string }[];
}

type OfKind<Kind extends LogFact['kind']> = Extract<LogFact, { readonly kind: Kind }>;

export const NOBODY = 'none';

const isOver = (state: string): boolean => state !== 'IN_QUEUE' && state !== 'IN_PROGRESS' && state !== NOBODY;

/** Ms between two looks of an owner at most; a lease is ended by a look. */
const SILENT = 'worker lost: its host stopped answering';

const COUNTER_OF: Readonly<Record<string, 'completed' | 'failed' | 'cancelled' | 'timedOut'>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TIMED_OUT: 'timedOut',
};

export interface WitnessOptions {
  readonly report: (broken: string) => void;
  /**
   * True where the host was well at that instant, holds that attempt, and says so: then it cannot have been lost to silence.
   * The instant is that of the decision: until it is in the log a host that was silent may long be well again.
   */
  readonly isHeld: (hostId: string, token: string, atMs: number) => boolean;
}

/**
 * Reads every fact of one endpoint's log in the order of the log, when it is stored, and says what may not be. It is
 * written from what is promised, in obvious code, and shares nothing with the rules under test.
 */
export class LogWitness {
  readonly jobs = new Map<string, WitnessedJob>();
  readonly takes = new Map<string, Set<string>>();
  readonly retries = new Set<string>();
  readonly purges = new Map<string, { removed: number; isDone: boolean }>();
  readonly keys = new Map<string, Set<string>>();
  readonly tries = new Set<string>();
  /** After each fact: waiting, running, completed, failed, requeued, and those of the waiting that may be taken. */
  readonly healths: (readonly number[])[] = [[0, 0, 0, 0, 0, 0]];
  readonly carries: number[] = [];
  isDeleted = false;
  terms = 0;
  #lastAtMs = 0;
  readonly #counters = { completed: 0, failed: 0, cancelled: 0, timedOut: 0, retried: 0 };
  readonly #deliveries = new Map<string, { tries: number; busyUntilMs: number; isOver: boolean }>();
  readonly #tokens = new Set<string>();
  readonly #options: WitnessOptions;

  constructor(options: WitnessOptions) {
    this.#options = options;
  }

  /** How many facts the log has had. */
  get mark(): number {
    return this.healths.length - 1;
  }

  /** What a job looked like at that mark and after it, until now. */
  looksSince(jobId: string, mark: number): readonly string[] {
    const looks = this.jobs.get(jobId)?.looks ?? [];
    const before = looks.findLast(({ from }) => from <= mark)?.look ?? NOBODY;
    return [before, ...looks.filter(({ from }) => from > mark).map(({ look }) => look)];
  }

  witness(fact: LogFact): void {
    if (fact.atMs < this.#lastAtMs) this.#broken(fact, 'time went back');
    this.#lastAtMs = fact.atMs;
    if (this.isDeleted && fact.kind !== 'opened' && fact.kind !== 'endpoint-deleted') {
      this.#broken(fact, 'the endpoint was deleted before');
    }
    this.#read(fact);
    const { completed, failed, retried, timedOut } = this.#counters;
    const living = [...this.jobs.values()];
    const waiting = living.filter(({ state }) => state === 'IN_QUEUE');
    const running = living.filter(({ state }) => state === 'IN_PROGRESS').length;
    const ready = waiting.filter(({ notBeforeMs, queuedAtMs }) => notBeforeMs <= queuedAtMs).length;
    this.healths.push([waiting.length, running, completed, failed + timedOut, retried, ready]);
  }

  /** When a job's life is over, Unix ms. */
  endOfLife(jobId: string): number {
    const job = this.jobs.get(jobId);
    return job === undefined ? Number.POSITIVE_INFINITY : this.#endOfLife(job);
  }

  /** What stands beside a batch must be as the batch leaves the endpoint. */
  checkIndex(index: LogIndex): void {
    const living = [...this.jobs.values()].filter(({ state }) => state !== NOBODY);
    const count = (state: string, isLow: boolean | null): number =>
      living.filter((job) => job.state === state && (isLow === null || job.isLow === isLow)).length;
    const told = [index.waitingNormal, index.waitingLow, index.running, index.runningLow, index.living];
    const are = [
      ...[count('IN_QUEUE', false), count('IN_QUEUE', true)],
      ...[count('IN_PROGRESS', null), count('IN_PROGRESS', true), living.length],
    ];
    if (told.join() !== are.join()) this.#options.report(`the index says ${told.join()} instead of ${are.join()}`);
    const nextEnd = Math.min(...living.map((job) => this.#endOfLife(job)));
    const isLate = (index.dueAtMs ?? Number.POSITIVE_INFINITY) > nextEnd;
    if (isLate || (index.running > 0 && index.dueAtMs === null)) {
      this.#options.report(`the index is due at ${index.dueAtMs}, a life ends at ${nextEnd}, ${index.running} run`);
    }
  }

  #read(fact: LogFact): void {
    switch (fact.kind) {
      case 'submitted':
      case 'born-taken':
        this.#accept(fact);
        if (fact.kind === 'born-taken') this.#take(fact.job.jobId, fact);
        return;
      case 'taken':
        this.#take(fact.jobId, fact);
        return;
      case 'started':
      case 'progressed': {
        const job = this.#running(fact);
        job.isStarted = true;
        return;
      }
      case 'finished': {
        const job = this.#running(fact);
        if (job.holder?.token !== fact.token) this.#broken(fact, 'another holds it');
        this.#end(job, fact.state, fact.atMs);
        return;
      }
      case 'timed-out':
        this.#end(this.#running(fact), 'TIMED_OUT', fact.atMs);
        return;
      case 'cancelled': {
        const job = this.#job(fact);
        if (isOver(job.state)) this.#broken(fact, `it had ended as ${job.state}`);
        this.#end(job, 'CANCELLED', fact.atMs);
        return;
      }
      case 'lost':
        this.#lose(this.#running(fact), fact);
        return;
      case 'retried':
        this.#retry(this.#job(fact), fact);
        return;
      case 'life-changed':
        this.#changeLife(this.#job(fact), fact);
        return;
      case 'let-go':
        this.#job(fact);
        return;
      case 'purged':
        this.#purge(fact);
        return;
      case 'expired':
        this.#expire(fact);
        return;
      case 'delivery-tried':
      case 'delivery-ended':
        this.#deliver(fact);
        return;
      case 'opened':
        if (fact.term !== this.terms + 1) this.#broken(fact, `term ${fact.term} follows ${this.terms}`);
        this.terms = fact.term;
        return;
      case 'endpoint-deleted':
        this.isDeleted = true;
        for (const job of this.jobs.values()) this.#look(job, NOBODY);
        Object.assign(this.#counters, { completed: 0, failed: 0, cancelled: 0, timedOut: 0, retried: 0 });
        return;
      case 'carried':
        if (fact.what === 'job') this.#checkCarried(fact);
        return;
      case 'totals':
        this.carries.push(fact.covers);
    }
  }

  #accept({ atMs, job, ...fact }: OfKind<'submitted' | 'born-taken'>): void {
    if (this.jobs.has(job.jobId)) this.#options.report(`${fact.kind} ${job.jobId}: it was accepted before`);
    const accepted: WitnessedJob = {
      ...{ jobId: job.jobId, isLow: job.isLowPriority, state: 'IN_QUEUE', attempt: 1, charged: 0, unstarted: 0 },
      ...{ isStarted: false, queuePlace: job.ordinal, notBeforeMs: atMs, queuedAtMs: atMs },
      ...{ expiresAtMs: job.expiresAtMs, retentionMs: job.retentionMs, endedAtMs: null, holder: null },
      ...{ endedTokens: new Set<string>(), looks: [] },
    };
    this.jobs.set(job.jobId, accepted);
    this.#look(accepted, 'IN_QUEUE');
    if (job.key === null) return;
    const named = this.keys.get(job.key.name) ?? new Set();
    this.keys.set(job.key.name, named.add(job.jobId));
    if (named.size > job.key.size) this.#options.report(`${job.jobId}: its key stands for ${[...named].join()}`);
  }

  #take(jobId: string, fact: OfKind<'taken' | 'born-taken'>): void {
    const { attempt, hostId, takeId, token } = fact.taking;
    const job = this.jobs.get(jobId);
    if (job?.state !== 'IN_QUEUE' || job.attempt !== attempt) {
      this.#broken(fact, `taken while ${job?.state} ${job?.attempt}`);
      return;
    }
    job.holder = { token, hostId, takeId, atMs: fact.atMs };
    job.isStarted = false;
    this.#look(job, 'IN_PROGRESS');
    // A token begins with the chance that its wish came with.
    if (this.#tokens.has(token)) this.#broken(fact, 'this token was given before');
    this.#tokens.add(token);
    const wish = token.slice(0, token.lastIndexOf('.'));
    this.takes.set(wish, (this.takes.get(wish) ?? new Set()).add(`${jobId}/${attempt}`));
  }

  #lose(job: WitnessedJob, fact: OfKind<'lost'>): void {
    const isSilent = fact.reason === SILENT;
    const isCharged = fact.reason === 'crashed' || (isSilent && (job.isStarted || job.unstarted === 2));
    const isUnstarted = isSilent && !isCharged;
    const charged = job.charged + (isCharged ? 1 : 0);
    if (fact.charged !== charged) this.#broken(fact, `charged ${fact.charged} instead of ${charged}`);
    if (isSilent && job.holder !== null && this.#options.isHeld(job.holder.hostId, job.holder.token, fact.atMs)) {
      this.#broken(fact, 'its host is well and holds it');
    }
    job.charged = charged;
    job.unstarted = isCharged ? 0 : job.unstarted + (isUnstarted ? 1 : 0);
    if ((fact.next === null) !== charged >= 3) this.#broken(fact, `${charged} charged, next ${fact.next === null}`);
    if (fact.next === null) this.#end(job, 'FAILED', fact.atMs);
    else this.#requeue(job, fact, fact.next);
  }

  #retry(job: WitnessedJob, fact: OfKind<'retried'>): void {
    if (job.state !== 'FAILED' && job.state !== 'TIMED_OUT') this.#broken(fact, `retried while ${job.state}`);
    if (this.retries.has(fact.retryId)) this.#broken(fact, 'this retry was made before');
    this.retries.add(fact.retryId);
    job.charged = 0;
    job.unstarted = 0;
    this.#requeue(job, fact, fact.next);
    if (job.attempt !== fact.attempt) this.#broken(fact, `attempt ${fact.attempt} instead of ${job.attempt}`);
  }

  #requeue(
    job: WitnessedJob,
    { atMs }: LogFact,
    next: { readonly queuePlace: number; readonly notBeforeMs: number },
  ): void {
    job.attempt += 1;
    job.holder = null;
    job.endedAtMs = null;
    job.queuePlace = next.queuePlace;
    job.notBeforeMs = next.notBeforeMs;
    job.queuedAtMs = atMs;
    this.#counters.retried += 1;
    this.#look(job, 'IN_QUEUE');
  }

  #changeLife(job: WitnessedJob, { expiresAtMs, retentionMs }: OfKind<'life-changed'>): void {
    job.expiresAtMs = expiresAtMs;
    job.retentionMs = retentionMs;
  }

  #end(job: WitnessedJob, state: string, atMs: number): void {
    if (job.holder !== null) job.endedTokens.add(job.holder.token);
    job.endedAtMs = atMs;
    this.#counters[COUNTER_OF[state] as 'failed'] += 1;
    this.#look(job, state);
  }

  #purge(fact: OfKind<'purged'>): void {
    const { count, isLast, purgeId, through } = fact;
    const going = [...this.jobs.values()].filter(
      ({ isLow, queuePlace, state }) => state === 'IN_QUEUE' && queuePlace <= (isLow ? through.low : through.normal),
    );
    if (going.length !== count) this.#broken(fact, `it removes ${going.length}`);
    for (const job of going) this.#look(job, NOBODY);
    const before = this.purges.get(purgeId);
    if (before?.isDone === true) this.#broken(fact, 'this purge was over');
    this.purges.set(purgeId, { removed: (before?.removed ?? 0) + going.length, isDone: isLast });
  }

  #expire(fact: OfKind<'expired'>): void {
    const { before, count } = fact;
    if (before.atMs > fact.atMs) this.#broken(fact, 'it is not yet that late');
    const due = [...this.jobs.values()].filter((job) => job.state !== NOBODY && this.#endOfLife(job) <= before.atMs);
    const early = due.filter((job) => this.#endOfLife(job) < before.atMs);
    if (count > due.length || count < early.length) this.#broken(fact, `${early.length} to ${due.length} are due`);
    // Of that very instant the first to be accepted go first.
    const last = due.filter((job) => this.#endOfLife(job) === before.atMs).slice(0, count - early.length);
    for (const job of [...early, ...last]) this.#look(job, NOBODY);
  }

  #deliver(fact: OfKind<'delivery-tried' | 'delivery-ended'>): void {
    const name = `${fact.jobId}/${fact.attempt}`;
    const delivery = this.#deliveries.get(name) ?? { tries: 0, busyUntilMs: 0, isOver: false };
    this.#deliveries.set(name, delivery);
    if (delivery.isOver) this.#broken(fact, 'the delivery was over');
    if (fact.kind === 'delivery-ended') {
      delivery.isOver = fact.outcome !== null;
      delivery.busyUntilMs = 0;
      return;
    }
    if (fact.atMs < delivery.busyUntilMs) this.#broken(fact, 'another try runs');
    delivery.tries += 1;
    delivery.busyUntilMs = fact.untilMs;
    if (delivery.tries > 3) this.#broken(fact, 'a fourth try');
    this.tries.add(fact.token);
  }

  #checkCarried(fact: Extract<LogFact, { readonly kind: 'carried'; readonly what: 'job' }>): void {
    const { attempt, charged, jobId, state } = fact.job;
    const told = `${state}/${attempt}/${charged}`;
    const known = this.jobs.get(jobId);
    const is = known === undefined ? NOBODY : lookOf(known);
    if (told !== is) this.#broken(fact, `carried as ${told} instead of ${is}`);
  }

  #endOfLife({ endedAtMs, expiresAtMs, retentionMs }: WitnessedJob): number {
    return endedAtMs === null ? expiresAtMs : Math.min(expiresAtMs, endedAtMs + retentionMs);
  }

  #running(fact: LogFact & { readonly jobId: string; readonly attempt: number }): WitnessedJob {
    const job = this.#job(fact);
    if (job.state !== 'IN_PROGRESS' || job.attempt !== fact.attempt) {
      this.#broken(fact, `it is ${job.state} ${job.attempt}`);
    }
    return job;
  }

  #job(fact: LogFact & { readonly jobId: string }): WitnessedJob {
    const job = this.jobs.get(fact.jobId);
    if (job === undefined) throw new Error(`${JSON.stringify(fact)}: the job was never accepted`);
    if (job.state === NOBODY) this.#broken(fact, 'the job is gone');
    return job;
  }

  #look(job: WitnessedJob, state: string): void {
    job.state = state;
    job.looks.push({ from: this.mark + 1, look: lookOf(job) });
  }

  #broken(fact: LogFact, why: string): void {
    this.#options.report(`${JSON.stringify(fact)}: ${why}`);
  }
}

/** What a job looks like from outside. */
export const lookOf = ({
  attempt,
  charged,
  state,
}: {
  readonly state: string;
  readonly attempt: number;
  readonly charged: number;
}): string => (state === NOBODY ? NOBODY : `${state}/${attempt}/${charged}`);
