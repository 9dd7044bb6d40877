import type { Demand, JobId, PageKey } from '@berth/domain';
import { isLive, type JobSighting } from './job-sighting.js';
import { Pace } from './pace.js';
import { QueueOrder, type QueuePlace } from './queue-order.js';

/** How many jobs there are now. */
export interface LiveCounts {
  readonly inQueue: number;
  readonly inProgress: number;
}

/** The jobs of one endpoint, as far as the feed has told them. */
export class EndpointJobs {
  readonly #jobs = new Map<JobId, JobSighting>();
  readonly #queuedNormal = new Map<JobId, JobSighting>();
  readonly #queuedLow = new Map<JobId, JobSighting>();
  readonly #normalOrder = new QueueOrder();
  readonly #lowOrder = new QueueOrder();
  /** All jobs by submission, which stands in the place of queueing. */
  readonly #bySubmission = new QueueOrder();
  readonly #runningNormal = new Map<JobId, JobSighting>();
  readonly #runningLow = new Map<JobId, JobSighting>();
  /** Ended jobs with a webhook of which it is not known yet that somebody is to be told. */
  readonly #untold = new Map<JobId, JobSighting>();
  readonly #pace = new Pace();

  /** Returns false when the sighting is not newer than what is known. */
  apply(sighting: JobSighting): boolean {
    const before = this.#jobs.get(sighting.jobId);
    if (before !== undefined && before.recordSequence >= sighting.recordSequence) return false;
    this.#unlist(sighting.jobId);
    this.#jobs.set(sighting.jobId, sighting);
    if (before === undefined) this.#bySubmission.add(submissionOf(sighting));
    this.#list(sighting);
    this.#keepPace(before, sighting);
    return true;
  }

  get(jobId: JobId): JobSighting | undefined {
    return this.#jobs.get(jobId);
  }

  /** The job's record is gone. */
  forget(jobId: JobId): void {
    this.#unlist(jobId);
    const job = this.#jobs.get(jobId);
    if (job !== undefined) this.#bySubmission.remove(submissionOf(job));
    this.#jobs.delete(jobId);
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** All jobs below a place in the order of submission, the latest first. To be walked at once. */
  *newestFirst(below: PageKey | null): Generator<JobSighting> {
    for (const { jobId } of this.#bySubmission.backwards(below === null ? null : submissionOf(below))) {
      const job = this.#jobs.get(jobId);
      if (job !== undefined) yield job;
    }
  }

  untold(): Iterable<JobSighting> {
    return this.#untold.values();
  }

  /** A delivery of this end of the job exists, or none is wanted. */
  markTold(jobId: JobId, attempt: number): void {
    if (this.#untold.get(jobId)?.attempt === attempt) this.#untold.delete(jobId);
  }

  *queued(): Generator<JobSighting> {
    yield* this.#queuedNormal.values();
    yield* this.#queuedLow.values();
  }

  /** Jobs that wait since `sinceMs` or later, the latest of each priority first. To be walked at once. */
  *queuedSince(sinceMs: number): Generator<JobSighting> {
    for (const order of [this.#normalOrder, this.#lowOrder]) {
      for (const { jobId, queuedAtMs } of order.backwards(null)) {
        if (queuedAtMs < sinceMs) break;
        const job = this.#jobs.get(jobId);
        if (job !== undefined) yield job;
      }
    }
  }

  *running(): Generator<JobSighting> {
    yield* this.#runningNormal.values();
    yield* this.#runningLow.values();
  }

  counts(): LiveCounts {
    return {
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
      oldestQueuedAtMs: this.#normalOrder.first?.queuedAtMs ?? null,
      endedLastMinute: pace.ended,
      executionMsLastMinute: pace.executionMs,
    };
  }

  /** True while the endpoint has anything that a controller could act on. */
  hasDemand(nowMs: number): boolean {
    const { inQueue, inProgress } = this.counts();
    return inQueue + inProgress + this.#pace.read(nowMs).ended > 0;
  }

  /**
   * The job's place in start order, from 1: jobs of one priority start in the order in which they were queued, those of
   * low priority after all others. Told for a job that has not been seen here yet, too.
   */
  positionOf(place: QueuePlace, isLowPriority: boolean): number {
    return (
      1 + (isLowPriority ? this.#normalOrder.size + this.#lowOrder.before(place) : this.#normalOrder.before(place))
    );
  }

  #list(sighting: JobSighting): void {
    if (!isLive(sighting)) {
      if (sighting.hasWebhook) this.#untold.set(sighting.jobId, sighting);
      return;
    }
    this.#listFor(sighting).set(sighting.jobId, sighting);
    if (sighting.state === 'IN_QUEUE') this.#orderOf(sighting).add(sighting);
  }

  #orderOf({ isLowPriority }: JobSighting): QueueOrder {
    return isLowPriority ? this.#lowOrder : this.#normalOrder;
  }

  #listFor({ state, isLowPriority }: JobSighting): Map<JobId, JobSighting> {
    if (state === 'IN_QUEUE') return isLowPriority ? this.#queuedLow : this.#queuedNormal;
    return isLowPriority ? this.#runningLow : this.#runningNormal;
  }

  #unlist(jobId: JobId): void {
    const listed = this.#jobs.get(jobId);
    if (listed?.state === 'IN_QUEUE') this.#orderOf(listed).remove(listed);
    for (const list of [this.#queuedNormal, this.#queuedLow, this.#runningNormal, this.#runningLow]) list.delete(jobId);
    this.#untold.delete(jobId);
  }

  #keepPace(before: JobSighting | undefined, sighting: JobSighting): void {
    const { state, attempt, endedAtMs, startedAtMs } = sighting;
    const isSameEnd = before?.state === state && before.attempt === attempt;
    if (isLive(sighting) || isSameEnd) return;
    if (endedAtMs !== null && startedAtMs !== null) this.#pace.add(endedAtMs, Math.max(0, endedAtMs - startedAtMs));
  }
}

const submissionOf = ({ createdAtMs, jobId }: PageKey): QueuePlace => ({ queuedAtMs: createdAtMs, jobId });
