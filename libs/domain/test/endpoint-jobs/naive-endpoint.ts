import type { JobId } from '../../src/ids.js';
import { retryDelayMs } from '../../src/job/index.js';
import type { CommandAnswer, EndpointCommand, TakeWish } from '../../src/endpoint-jobs/commands.js';

/** One job as the model keeps it: everything in plain sight, nothing indexed. */
interface NaiveJob {
  readonly id: string;
  readonly isLow: boolean;
  readonly webhook: boolean;
  readonly createdAt: number;
  readonly timeout: number;
  expiresAt: number;
  retention: number;
  state: string;
  attempt: number;
  charged: number;
  unstarted: number;
  queueNo: number;
  queuedAt: number;
  notBefore: number;
  endedAt: number | null;
  holder: NaiveHolder | null;
  error: string | null;
  output: string | null;
  chunks: number;
  retryId: string | null;
  past: { attempt: number; outcome: string; startedAt: number; stoppedAt: number | null }[];
}

interface NaiveHolder {
  readonly token: string;
  readonly host: string;
  readonly worker: string;
  readonly takeId: string;
  readonly at: number;
  started: boolean;
  progressedAt: number | null;
  lease: number;
}

interface NaiveDelivery {
  readonly jobId: string;
  readonly attempt: number;
  tries: number;
  claim: { token: string; until: number } | null;
  nextAt: number;
  outcome: string | null;
}

/** Of a request's jobs so many are accepted, from the first on. */
interface NaiveKey {
  readonly name: string;
  readonly fingerprint: string;
  readonly firstId: string;
  readonly size: number;
  readonly at: number;
  accepted: number;
}

const naiveItemId = (firstId: string, { item, size }: { item: number; size: number }): string =>
  size === 1 ? firstId : firstId.replace(/.{4}$/, `0000${item.toString(16)}`.slice(-4));

const isOver = (state: string): boolean => state !== 'IN_QUEUE' && state !== 'IN_PROGRESS';
const WAITED_FOR_MS = 20_000;

/**
 * What the jobs of one endpoint are to do, in the most obvious code: arrays that are searched from the start, and no
 * facts. It knows what is promised and nothing of how the real one works.
 */
export class NaiveEndpoint {
  jobs: NaiveJob[] = [];
  deliveries: NaiveDelivery[] = [];
  counters = { completed: 0, failed: 0, cancelled: 0, timedOut: 0, retried: 0 };
  #places = 0;
  readonly #keys: NaiveKey[] = [];
  #takes: { takeId: string; at: number; jobs: { id: string; attempt: number }[] }[] = [];
  readonly #young: { id: string; at: number }[] = [];
  #purge: { id: string; removed: number } | null = null;
  #isDeleted = false;

  performCommand(command: EndpointCommand, now: number): CommandAnswer {
    if ('sentAtMs' in command && now - command.sentAtMs > 10_000) return { kind: 'dropped' };
    if (this.#isDeleted) return this.#performDeleted(command);
    for (const job of this.jobs.filter((each) => this.#endOfLife(each) <= now)) this.#drop(job, now);
    switch (command.kind) {
      case 'submit':
        return this.#submit(command, now);
      case 'take': {
        const given = this.#seat(command.wishes, this.#ready(now), now);
        const takes = command.wishes.map(({ takeId }) => ({ takeId, jobs: given.get(takeId) ?? this.#before(takeId) }));
        return { kind: 'takes', takes };
      }
      case 'progress':
        return this.#progress(command, now);
      case 'finish':
        return this.#finish(command, now);
      case 'give-up': {
        const job = this.#held(command);
        if (job === null) return { kind: 'superseded' };
        if (command.isCharged) this.#lose(job, { now, isCharge: true, fraction: command.fraction });
        else this.#requeue(job, { now, notBefore: now, outcome: 'lost' });
        return { kind: 'recorded' };
      }
      case 'let-go': {
        const job = this.#own(command);
        const last = job?.past.at(-1);
        const stopped = job !== null && (job.state === 'CANCELLED' || job.state === 'TIMED_OUT');
        if (!stopped || last?.attempt !== command.attempt) return { kind: 'superseded' };
        last.stoppedAt ??= Math.max(last.startedAt, now - command.agoMs);
        return { kind: 'recorded' };
      }
      case 'cancel': {
        const job = this.#find(command.jobId);
        if (job === undefined) return NO_JOB;
        if (!isOver(job.state)) this.#end(job, 'CANCELLED', now);
        return { kind: 'job', jobId: command.jobId, state: job.state as never };
      }
      case 'retry':
        return this.#retry(command, now);
      case 'replace-life': {
        const job = this.#find(command.jobId);
        if (job === undefined) return NO_JOB;
        job.expiresAt = Math.min(now + command.leftMs, job.createdAt + 7 * 24 * 3_600_000);
        if (job.endedAt !== null) job.retention = Math.max(job.retention, job.expiresAt - job.endedAt);
        return { kind: 'job', jobId: command.jobId, state: job.state as never };
      }
      case 'purge': {
        if (this.#purge?.id !== command.purgeId) {
          const waiting = this.jobs.filter(({ state }) => state === 'IN_QUEUE');
          for (const job of waiting) this.#drop(job, now);
          this.#purge = { id: command.purgeId, removed: waiting.length };
        }
        return { kind: 'purged', removed: this.#purge.removed };
      }
      case 'look':
        return this.#look(command, now);
      case 'begin-try':
        return this.#beginTry(command, now);
      case 'end-try': {
        const delivery = this.deliveries.find(
          ({ jobId, attempt }) => jobId === command.jobId && attempt === command.attempt,
        );
        if (delivery?.claim?.token !== command.token) return { kind: 'superseded' };
        delivery.claim = null;
        delivery.nextAt = now + 10_000;
        if (command.isSuccess) delivery.outcome = 'delivered';
        else if (delivery.tries === 3) delivery.outcome = 'failed';
        return { kind: 'recorded' };
      }
      case 'open':
        for (const job of this.jobs) if (job.holder !== null) job.holder.lease = now + 30_000;
        return { kind: 'opened' };
      case 'delete':
        this.#isDeleted = true;
        this.jobs = [];
        this.deliveries = [];
        this.counters = { completed: 0, failed: 0, cancelled: 0, timedOut: 0, retried: 0 };
        return { kind: 'deleted' };
    }
  }

  renew(proof: { jobId: string; attempt: number; token: string; hostId: string }, now: number): string {
    const job = this.#isDeleted ? null : this.#held(proof);
    if (job?.holder == null || this.#endOfLife(job) <= now) return 'lost';
    job.holder.lease = Math.max(job.holder.lease, now + 30_000);
    if (now - job.holder.at >= 5_000) job.holder.started = true;
    return 'renewed';
  }

  /** In start order: normal jobs first, each priority in the order of its queueing. */
  waiting(): readonly NaiveJob[] {
    const queued = this.jobs.filter(({ state }) => state === 'IN_QUEUE');
    return queued.toSorted((a, b) => Number(a.isLow) - Number(b.isLow) || a.queueNo - b.queueNo);
  }

  #performDeleted({ kind }: EndpointCommand): CommandAnswer {
    if (kind === 'delete') return { kind: 'deleted' };
    if (kind === 'open') return { kind: 'opened' };
    if (kind === 'look') return { kind: 'looked' };
    const isWord = ['progress', 'finish', 'give-up', 'let-go', 'begin-try', 'end-try'].includes(kind);
    return isWord ? { kind: 'superseded' } : refusal('endpoint-deleted');
  }

  #submit(command: Extract<EndpointCommand, { kind: 'submit' }>, now: number): CommandAnswer {
    const { jobs, key, takers, bounds } = command;
    const missing = jobs.filter(
      ({ jobId }) => !this.#find(jobId) && !this.#young.some(({ id, at }) => id === jobId && now - at < WAITED_FOR_MS),
    );
    const known = key && this.#keys.find(({ name, at }) => name === key.name && now - at < 24 * 3_600_000);
    let fresh = missing;
    if (key) {
      const { firstId, size, accepted, fingerprint } = known ?? { ...key, accepted: 0 };
      if (fingerprint !== key.fingerprint || size !== key.size) return refusal('key-reused');
      const isNext = firstId === key.firstId && key.item <= accepted && key.item + jobs.length <= size;
      const isNamedSo = jobs.every(({ jobId }, at) => jobId === naiveItemId(firstId, { size, item: key.item + at }));
      if (!isNext || !isNamedSo) return { kind: 'named-before', firstId: firstId as JobId, size, accepted };
      fresh = jobs.filter((_, at) => key.item + at >= accepted);
    }
    if (fresh.length > 0 && this.jobs.length + fresh.length > bounds.livingJobs) return refusal('too-many-jobs');
    const wasEmpty = this.#ready(now).length === 0;
    const made = fresh.map((wish): NaiveJob => {
      this.#places += 1;
      const job: NaiveJob = {
        id: wish.jobId,
        isLow: wish.isLowPriority,
        webhook: wish.webhook !== null,
        createdAt: now,
        timeout: wish.executionTimeoutMs,
        expiresAt: now + wish.ttlMs,
        retention: wish.retentionMs,
        state: 'IN_QUEUE',
        attempt: 1,
        charged: 0,
        unstarted: 0,
        queueNo: this.#places,
        queuedAt: now,
        notBefore: now,
        endedAt: null,
        holder: null,
        error: null,
        output: null,
        chunks: 0,
        retryId: null,
        past: [],
      };
      this.jobs.push(job);
      return job;
    });
    const ids = jobs.map(({ jobId }) => jobId as string);
    if (known) known.accepted += fresh.length;
    else if (key && fresh.length > 0) this.#keys.push({ ...key, accepted: fresh.length, at: now });
    if (wasEmpty)
      this.#seat(
        takers,
        this.#ready(now).filter((job) => made.includes(job)),
        now,
      );
    return { kind: 'accepted', jobIds: ids as never, isReplayed: fresh.length < jobs.length };
  }

  #seat(wishes: readonly TakeWish[], jobs: readonly NaiveJob[], now: number): Map<string, never[]> {
    this.#takes = this.#takes.filter(({ at }) => now - at < WAITED_FOR_MS);
    const seen = new Set(this.#takes.map(({ takeId }) => takeId));
    const free = wishes
      .filter(({ takeId }) => !seen.has(takeId) && seen.add(takeId))
      .map((wish) => ({ wish, used: 0 }));
    const given = new Map<string, object[]>();
    const queue = [...jobs];
    while (queue.length > 0 && free.some(({ wish, used }) => used < wish.slots)) {
      for (const seat of free) {
        const job = seat.used < seat.wish.slots ? queue.shift() : undefined;
        if (job === undefined) continue;
        const { takeId, hostId: host, workerId: worker, secret } = seat.wish;
        const token = `${secret}.${seat.used}`;
        seat.used += 1;
        job.state = 'IN_PROGRESS';
        job.holder = { token, host, worker, takeId, at: now, started: false, progressedAt: null, lease: now + 30_000 };
        given.set(takeId, [...(given.get(takeId) ?? []), { jobId: job.id, attempt: job.attempt, token }]);
        const take = this.#takes.find((each) => each.takeId === takeId);
        if (take !== undefined) take.jobs.push({ id: job.id, attempt: job.attempt });
        else this.#takes.push({ takeId, at: now, jobs: [{ id: job.id, attempt: job.attempt }] });
      }
    }
    return given as Map<string, never[]>;
  }

  #before(takeId: string): never[] {
    const jobs = this.#takes.find((each) => each.takeId === takeId)?.jobs ?? [];
    return jobs.flatMap(({ id, attempt }) => {
      const job = this.#find(id);
      const isHeld = job?.state === 'IN_PROGRESS' && job.attempt === attempt && job.holder?.takeId === takeId;
      return isHeld ? [{ jobId: id, attempt, token: job.holder?.token }] : [];
    }) as never[];
  }

  #ready(now: number): readonly NaiveJob[] {
    return this.waiting().filter(({ notBefore }) => notBefore <= now);
  }

  #progress(command: Extract<EndpointCommand, { kind: 'progress' }>, now: number): CommandAnswer {
    const holder = this.#held(command)?.holder;
    const job = this.#held(command);
    if (holder == null || job === null) return { kind: 'superseded' };
    if (holder.progressedAt !== null && now < holder.progressedAt + 1_000) {
      return { kind: 'later', atMs: holder.progressedAt + 1_000 };
    }
    holder.progressedAt = now;
    holder.started = true;
    job.output = JSON.stringify(command.output);
    return { kind: 'recorded' };
  }

  #finish(command: Extract<EndpointCommand, { kind: 'finish' }>, now: number): CommandAnswer {
    const job = this.#own(command);
    if (job === null || job.state === 'CANCELLED') return { kind: 'superseded' };
    if (isOver(job.state)) return { kind: 'recorded' };
    this.#end(job, command.state, now);
    job.chunks = command.chunks;
    if (command.state !== 'COMPLETED') job.error = command.error;
    if (command.state !== 'TIMED_OUT' && command.output !== null) job.output = JSON.stringify(command.output);
    return { kind: 'recorded' };
  }

  #retry({ jobId, retryId }: Extract<EndpointCommand, { kind: 'retry' }>, now: number): CommandAnswer {
    const job = this.#find(jobId);
    if (job === undefined) return NO_JOB;
    const last = job.past.at(-1);
    const waits = job.state === 'IN_QUEUE' && (last?.outcome === 'FAILED' || last?.outcome === 'TIMED_OUT');
    if (job.retryId !== retryId && !waits) {
      if (job.state !== 'FAILED' && job.state !== 'TIMED_OUT') return refusal('not-retriable');
      const isStopping = job.state === 'TIMED_OUT' && last?.stoppedAt === null;
      const notBefore = isStopping ? Math.max(now, (job.endedAt ?? 0) + 12_000) : now;
      job.charged = 0;
      job.unstarted = 0;
      job.retryId = retryId;
      this.#requeue(job, { now, notBefore, outcome: null });
    }
    return { kind: 'job', jobId, state: job.state as never };
  }

  #look({ fraction }: Extract<EndpointCommand, { kind: 'look' }>, now: number): CommandAnswer {
    const dueOf = (job: NaiveJob): number =>
      Math.min(job.holder?.lease ?? 0, (job.holder?.at ?? 0) + job.timeout + 15_000);
    const running = this.jobs.filter((job) => job.state === 'IN_PROGRESS' && dueOf(job) <= now);
    running.sort((a, b) => dueOf(a) - dueOf(b) || this.jobs.indexOf(a) - this.jobs.indexOf(b));
    for (const [at, job] of running.entries()) {
      if ((job.holder?.at ?? 0) + job.timeout + 15_000 <= now) {
        this.#end(job, 'TIMED_OUT', now);
        job.error = 'executionTimeout exceeded';
        continue;
      }
      const isCharge = job.holder?.started === true || job.unstarted === 2;
      this.#lose(job, { now, isCharge, fraction: (fraction + at * 0.618_033_988_749_895) % 1 });
    }
    return { kind: 'looked' };
  }

  #beginTry({ attempt, jobId, token }: Extract<EndpointCommand, { kind: 'begin-try' }>, now: number): CommandAnswer {
    const delivery = this.deliveries.find(
      (each) => each.jobId === jobId && each.attempt === attempt && each.outcome === null,
    );
    if (delivery === undefined) return { kind: 'superseded' };
    if (delivery.claim?.token === token) return { kind: 'begun', untilMs: delivery.claim.until };
    if (Math.max(delivery.nextAt, delivery.claim?.until ?? 0) > now) return { kind: 'superseded' };
    if (delivery.tries === 3) {
      delivery.outcome = 'failed';
      delivery.claim = null;
      return { kind: 'superseded' };
    }
    delivery.tries += 1;
    delivery.claim = { token, until: now + 25_000 };
    return { kind: 'begun', untilMs: delivery.claim.until };
  }

  /** A fault of worker, container or host. */
  #lose(job: NaiveJob, { now, isCharge, fraction }: { now: number; isCharge: boolean; fraction: number }): void {
    job.charged += isCharge ? 1 : 0;
    job.unstarted = isCharge ? 0 : job.unstarted + 1;
    if (job.charged < 3) {
      const delay = retryDelayMs(Math.max(job.charged, job.unstarted), fraction);
      this.#requeue(job, { now, notBefore: now + delay, outcome: 'lost' });
      return;
    }
    this.#end(job, 'FAILED', now);
    job.error = 'lost';
  }

  #requeue(
    job: NaiveJob,
    { now, notBefore, outcome }: { now: number; notBefore: number; outcome: string | null },
  ): void {
    if (outcome !== null) this.#keepPast(job, outcome);
    this.#places += 1;
    job.state = 'IN_QUEUE';
    job.attempt += 1;
    job.queueNo = this.#places;
    job.queuedAt = now;
    job.notBefore = notBefore;
    job.endedAt = null;
    job.holder = null;
    job.error = null;
    job.output = null;
    job.chunks = 0;
    this.counters.retried += 1;
  }

  #end(job: NaiveJob, state: string, now: number): void {
    if (job.state === 'IN_PROGRESS') this.#keepPast(job, state);
    job.state = state;
    job.endedAt = now;
    job.error = null;
    job.output = null;
    job.chunks = 0;
    const counter = { COMPLETED: 'completed', FAILED: 'failed', CANCELLED: 'cancelled', TIMED_OUT: 'timedOut' }[state];
    this.counters[counter as 'completed'] += 1;
    if (!job.webhook) return;
    const { id: jobId, attempt } = job;
    this.deliveries.push({ jobId, attempt, tries: 0, claim: null, nextAt: now, outcome: null });
  }

  #keepPast({ attempt, holder, past }: NaiveJob, outcome: string): void {
    past.push({ attempt, outcome, startedAt: holder?.at ?? 0, stoppedAt: null });
  }

  #drop(job: NaiveJob, now: number): void {
    this.jobs = this.jobs.filter((each) => each !== job);
    if (now - job.createdAt < WAITED_FOR_MS) this.#young.push({ id: job.id, at: now });
  }

  #endOfLife({ endedAt, expiresAt, retention }: NaiveJob): number {
    return endedAt === null ? expiresAt : Math.min(expiresAt, endedAt + retention);
  }

  #find(jobId: string): NaiveJob | undefined {
    return this.jobs.find(({ id }) => id === jobId);
  }

  #own(proof: { jobId: string; attempt: number; token: string; hostId: string }): NaiveJob | null {
    const job = this.#find(proof.jobId);
    const isOwn =
      job?.attempt === proof.attempt && job.holder?.token === proof.token && job.holder.host === proof.hostId;
    return isOwn ? job : null;
  }

  #held(proof: { jobId: string; attempt: number; token: string; hostId: string }): NaiveJob | null {
    const job = this.#own(proof);
    return job?.state === 'IN_PROGRESS' ? job : null;
  }
}

/** Codes and words of a refusal are the real one's; here counts that it is one, and why. */
const refusal = (reason: string): CommandAnswer => ({ kind: 'refused', reason }) as CommandAnswer;

const NO_JOB = refusal('no-job');
