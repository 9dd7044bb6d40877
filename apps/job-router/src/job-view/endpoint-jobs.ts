import type { Demand, JobId, JobState } from '@berth/domain';
import { isLive, type JobSighting } from './job-sighting.js';
import { Pace } from './pace.js';

/** Counted since the feed's oldest event. */
interface JobCounters {
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly timedOut: number;
  /** Requeues, automatic and by `/retry`. */
  readonly retried: number;
}

export interface JobCounts extends JobCounters {
  readonly inQueue: number;
  readonly inProgress: number;
}

const COUNTER_OF_STATE = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TIMED_OUT: 'timedOut',
} as const satisfies Partial<Record<JobState, keyof JobCounters>>;

/** The jobs of one endpoint, as far as the feed has told them. */
export class EndpointJobs {
  readonly #jobs = new Map<JobId, JobSighting>();
  readonly #queuedNormal = new Map<JobId, JobSighting>();
  readonly #queuedLow = new Map<JobId, JobSighting>();
  readonly #runningNormal = new Map<JobId, JobSighting>();
  readonly #runningLow = new Map<JobId, JobSighting>();
  readonly #counters = { completed: 0, failed: 0, cancelled: 0, timedOut: 0, retried: 0 };
  readonly #pace = new Pace();

  /** Returns false when the sighting is not newer than what is known. */
  apply(sighting: JobSighting): boolean {
    const before = this.#jobs.get(sighting.jobId);
    if (before !== undefined && before.recordSequence >= sighting.recordSequence) return false;
    this.#unlist(sighting.jobId);
    this.#jobs.set(sighting.jobId, sighting);
    if (isLive(sighting)) this.#listFor(sighting).set(sighting.jobId, sighting);
    this.#count(before, sighting);
    return true;
  }

  get(jobId: JobId): JobSighting | undefined {
    return this.#jobs.get(jobId);
  }

  /** The job's record is gone. Its part in the counters stays. */
  forget(jobId: JobId): void {
    this.#unlist(jobId);
    this.#jobs.delete(jobId);
  }

  get size(): number {
    return this.#jobs.size;
  }

  *queued(): Generator<JobSighting> {
    yield* this.#queuedNormal.values();
    yield* this.#queuedLow.values();
  }

  *running(): Generator<JobSighting> {
    yield* this.#runningNormal.values();
    yield* this.#runningLow.values();
  }

  counts(): JobCounts {
    return {
      ...this.#counters,
      inQueue: this.#queuedNormal.size + this.#queuedLow.size,
      inProgress: this.#runningNormal.size + this.#runningLow.size,
    };
  }

  demand(nowMs: number): Demand {
    const pace = this.#pace.read(nowMs);
    return {
      queuedNormal: this.#queuedNormal.size,
      queuedLow: this.#queuedLow.size,
      running: this.#runningNormal.size + this.#runningLow.size,
      runningLow: this.#runningLow.size,
      oldestQueuedAtMs: this.#oldestQueuedAtMs(),
      endedLastMinute: pace.ended,
      executionMsLastMinute: pace.executionMs,
    };
  }

  /** True while the endpoint has anything that a controller could act on. */
  hasDemand(nowMs: number): boolean {
    const { inQueue, inProgress } = this.counts();
    return inQueue + inProgress + this.#pace.read(nowMs).ended > 0;
  }

  /** After an interruption jobs are told in the order of their shards, so the first that was listed need not be it. */
  #oldestQueuedAtMs(): number | null {
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const { queuedAtMs } of this.#queuedNormal.values()) oldestMs = Math.min(oldestMs, queuedAtMs);
    return oldestMs === Number.POSITIVE_INFINITY ? null : oldestMs;
  }

  #listFor({ state, isLowPriority }: JobSighting): Map<JobId, JobSighting> {
    if (state === 'IN_QUEUE') return isLowPriority ? this.#queuedLow : this.#queuedNormal;
    return isLowPriority ? this.#runningLow : this.#runningNormal;
  }

  #unlist(jobId: JobId): void {
    for (const list of [this.#queuedNormal, this.#queuedLow, this.#runningNormal, this.#runningLow]) list.delete(jobId);
  }

  /** Versions in between may never be seen, so requeues are counted by the attempt's growth. */
  #count(before: JobSighting | undefined, { state, attempt, endedAtMs, startedAtMs }: JobSighting): void {
    this.#counters.retried += Math.max(0, attempt - (before?.attempt ?? 1));
    if (state === 'IN_QUEUE' || state === 'IN_PROGRESS') return;
    const isCounted = before?.state === state && before.attempt === attempt;
    if (isCounted) return;
    this.#counters[COUNTER_OF_STATE[state]] += 1;
    if (endedAtMs !== null && startedAtMs !== null) this.#pace.add(endedAtMs, Math.max(0, endedAtMs - startedAtMs));
  }
}
