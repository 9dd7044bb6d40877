import type { Demand, EndpointId, JobKey, PageKey } from '@berth/domain';
import type { JobCounters } from '@berth/messaging';
import { CountLedger } from './count-ledger.js';
import { EndpointJobs, type LiveCounts } from './endpoint-jobs.js';
import { ExpiryWheel } from './expiry-wheel.js';
import { isLive, type JobSighting } from './job-sighting.js';
import type { QueuePlace } from './queue-order.js';

export type { JobSighting } from './job-sighting.js';

export interface JobCounts extends JobCounters, LiveCounts {}

const NONE: LiveCounts = { inQueue: 0, inProgress: 0 };

/** Expired jobs that maintenance has not collected yet; beyond it the oldest are left to the agents' own clocks. */
const EXPIRED_MAX = 100_000;

/** What expired longer ago than this was settled by others, or by time: said while the feed replays old events. */
const EXPIRED_STALE_MS = 10 * 60_000;

/**
 * What this router has seen of all jobs: in memory, milliseconds behind the truth, rebuilt at each start from the feed
 * and the last checkpoint of the counters.
 * It informs and it tells maintenance where to look; nothing is decided by it.
 */
export class JobView {
  readonly #endpoints = new Map<EndpointId, EndpointJobs>();
  readonly #wheel = new ExpiryWheel<JobKey>();
  readonly #changed = new Set<EndpointId>();
  #expired: JobSighting[] = [];
  readonly ledger = new CountLedger();

  /** As `apply`, but what was told before, of a job that has gone since, does not bring it back. */
  applyEvent(sighting: JobSighting): void {
    if (!this.ledger.isOld(sighting) || this.find(sighting) !== undefined) this.apply(sighting);
  }

  /** Of two sightings of one job the newer version counts, in whatever order they come. */
  apply(sighting: JobSighting): void {
    const { endpointId, jobId, expiresAtMs } = sighting;
    const before = this.find(sighting);
    if (!this.#endpointOf(endpointId).apply(sighting)) return;
    this.ledger.count(before, sighting);
    if (before?.expiresAtMs !== expiresAtMs) this.#wheel.add({ endpointId, jobId }, expiresAtMs);
    this.#changed.add(endpointId);
  }

  /** The job's record is gone. One that waited or ran is kept for `takeExpired`. */
  remove(key: JobKey, nowMs: number): void {
    const jobs = this.#endpoints.get(key.endpointId);
    const job = jobs?.get(key.jobId);
    if (jobs === undefined || job === undefined) return;
    jobs.forget(key.jobId);
    if (!isLive(job)) return;
    this.#changed.add(key.endpointId);
    if (nowMs - job.expiresAtMs < EXPIRED_STALE_MS) this.#expired.push(job);
    if (this.#expired.length > EXPIRED_MAX) this.#expired = this.#expired.slice(-EXPIRED_MAX);
  }

  /** The job left the queue at a caller's word: nobody is to be told of it. */
  purge({ endpointId, jobId }: JobKey): void {
    this.#endpoints.get(endpointId)?.forget(jobId);
    this.#changed.add(endpointId);
  }

  /** Removes jobs whose time to live is over, whether or not the feed has said so yet. */
  expire(nowMs: number): void {
    for (const key of this.#wheel.due(nowMs)) {
      const job = this.find(key);
      if (job !== undefined && job.expiresAtMs <= nowMs) this.remove(key, nowMs);
    }
  }

  /** Jobs that were gone before they had ended, oldest first, at most `limit`; each is told once. */
  takeExpired(limit: number): readonly JobSighting[] {
    return this.#expired.splice(0, limit);
  }

  find({ endpointId, jobId }: JobKey): JobSighting | undefined {
    return this.#endpoints.get(endpointId)?.get(jobId);
  }

  counts(endpointId: EndpointId): JobCounts {
    return { ...this.ledger.of(endpointId), ...(this.#endpoints.get(endpointId)?.counts() ?? NONE) };
  }

  demand(endpointId: EndpointId, nowMs: number): Demand {
    return (this.#endpoints.get(endpointId) ?? new EndpointJobs()).demand(nowMs);
  }

  /** Place in start order, from 1, of a job that waits; exact for what this router has seen. O(log n). */
  positionOf({ endpointId, jobId, queuedAtMs }: JobKey & QueuePlace, isLowPriority: boolean): number {
    return this.#endpoints.get(endpointId)?.positionOf({ jobId, queuedAtMs }, isLowPriority) ?? 1;
  }

  /** Endpoints with any job that waits or runs, or that ended within the last minute. */
  demandingEndpoints(nowMs: number): readonly EndpointId[] {
    return [...this.#endpoints].filter(([, jobs]) => jobs.hasDemand(nowMs)).map(([endpointId]) => endpointId);
  }

  /** Endpoints that changed since the last call. */
  takeChanged(): readonly EndpointId[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** Endpoints of which any job is known. */
  endpointIds(): readonly EndpointId[] {
    return [...this.#endpoints].filter(([, jobs]) => jobs.size > 0).map(([endpointId]) => endpointId);
  }

  *queued(endpointId?: EndpointId): Generator<JobSighting> {
    for (const jobs of this.#select(endpointId)) yield* jobs.queued();
  }

  /** Jobs that wait since `sinceMs` or later, the latest of each endpoint first. To be walked at once. */
  *queuedSince(sinceMs: number): Generator<JobSighting> {
    for (const jobs of this.#endpoints.values()) yield* jobs.queuedSince(sinceMs);
  }

  /** The endpoint's jobs below a place in the order of submission, the latest first. To be walked at once. */
  *newestFirst(endpointId: EndpointId, below: PageKey | null): Generator<JobSighting> {
    for (const jobs of this.#select(endpointId)) yield* jobs.newestFirst(below);
  }

  *running(endpointId?: EndpointId): Generator<JobSighting> {
    for (const jobs of this.#select(endpointId)) yield* jobs.running();
  }

  /** Ended jobs with a webhook of which it is not known yet that somebody is to be told. */
  *untold(): Generator<JobSighting> {
    for (const jobs of this.#endpoints.values()) yield* jobs.untold();
  }

  /** A delivery of this end of the job exists, or none is wanted. */
  markTold({ endpointId, jobId, attempt }: JobKey & { readonly attempt: number }): void {
    this.#endpoints.get(endpointId)?.markTold(jobId, attempt);
  }

  /** Jobs that wait or run, for metrics. */
  totals(): LiveCounts {
    const totals = { inQueue: 0, inProgress: 0 };
    for (const jobs of this.#endpoints.values()) {
      const { inQueue, inProgress } = jobs.counts();
      totals.inQueue += inQueue;
      totals.inProgress += inProgress;
    }
    return totals;
  }

  /** The whole endpoint is gone, its counters too. */
  forgetEndpoint(endpointId: EndpointId): void {
    this.#endpoints.delete(endpointId);
    this.ledger.forget(endpointId);
    this.#changed.add(endpointId);
  }

  #select(endpointId: EndpointId | undefined): readonly EndpointJobs[] {
    if (endpointId === undefined) return [...this.#endpoints.values()];
    const jobs = this.#endpoints.get(endpointId);
    return jobs === undefined ? [] : [jobs];
  }

  #endpointOf(endpointId: EndpointId): EndpointJobs {
    let jobs = this.#endpoints.get(endpointId);
    if (jobs === undefined) {
      jobs = new EndpointJobs();
      this.#endpoints.set(endpointId, jobs);
    }
    return jobs;
  }
}
