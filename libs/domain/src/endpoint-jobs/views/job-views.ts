import type { EndpointId, HostId, JobId, JobKey } from '../../ids.js';
import {
  INLINE_INPUT_MAX_BYTES,
  jobTimes,
  retriesOf,
  type JobSight,
  type JobState,
  type Payload,
} from '../../job/index.js';
import {
  describeJob,
  summarizeJob,
  type DescribedJob,
  type ListedJob,
  type ListedQueue,
} from '../../job-summary/index.js';
import { newestFirst, type PageKey, type Slice } from '../../job-pages/index.js';
import type { ToldDelivery } from '../../webhook/index.js';
import type { LogReference } from '../carrying/carry.js';
import type { AttemptProof } from '../commands.js';
import { findHeld } from '../decide/decide-holder.js';
import type { DeliveryData, JobBody, JobData } from '../job-data.js';
import type { EndpointState, LivingJob } from '../state.js';
import type { LogPlace } from '../structures/carry-list.js';
import { queueSightOf } from './queue-views.js';

/** A payload, or where the log has it; both null: there is none. */
export interface HeldPayload<T> {
  readonly value: T | null;
  readonly reference: PayloadReference | null;
}

/** The place's sequence is known once the batch is committed, and nobody is told of the job before. */
export interface PayloadReference extends Omit<LogReference, 'sequence'> {
  readonly place: LogPlace;
}

export const heldBody = (job: LivingJob): HeldPayload<JobBody> =>
  job.body === null ? { value: null, reference: bodyReference(job) } : { value: job.body, reference: null };

const bodyReference = ({ data: { attempt, jobId }, place }: LivingJob): PayloadReference => ({
  part: 'body',
  jobId,
  attempt,
  place,
});

function heldOutput({ data: { attempt, jobId }, output, outputPlace: place }: LivingJob): HeldPayload<Payload> {
  if (output !== null || place === null) return { value: output, reference: null };
  return { value: null, reference: { part: 'output', jobId, attempt, place } };
}

/** A job as its callers may see it, but for an output that is not in memory. */
export interface SeenJob extends Omit<JobSight, 'output'> {
  readonly output: HeldPayload<Payload>;
}

/** What the job's submission brought; null: there is no such job. */
export function viewBody(state: EndpointState, jobId: JobId): HeldPayload<JobBody> | null {
  const job = state.jobs.get(jobId);
  return job === undefined ? null : heldBody(job);
}

/** Null: there is no such job. @param atMs as for `decide`, after the same `advance` and with nothing expired left */
export function viewJob(state: EndpointState, { endpointId, jobId }: JobKey, atMs: number): SeenJob | null {
  const job = state.jobs.get(jobId);
  if (job === undefined) return null;
  const output = heldOutput(job);
  return { ...seenOf(endpointId, job.data, atMs), output, queue: queueSightOf(state, job, atMs) };
}

/** The view of a job by itself alone. */
export function seenOf(endpointId: EndpointId, data: JobData, atMs: number): Omit<SeenJob, 'output' | 'queue'> {
  const { delayTime, executionTime } = jobTimes(data, atMs);
  return {
    endpointId,
    jobId: data.jobId,
    state: data.state,
    attempt: data.attempt,
    queuedAtMs: data.queuedAtMs,
    notBeforeMs: data.notBeforeMs,
    endedAtMs: data.endedAtMs,
    expiresAtMs: data.expiresAtMs,
    isLowPriority: data.isLowPriority,
    delayTimeMs: delayTime,
    executionTimeMs: executionTime,
    retries: retriesOf(data),
    workerId: data.current?.workerId ?? null,
    error: data.error,
    chunks: data.chunks,
  };
}

/** Jobs looked at for one page: where few have the wanted status, the page ends here and the next goes on. */
const SCAN_MAX = 50_000;

/** The jobs that a list shall hold. */
export interface JobsWanted {
  /** Below this job; null: from the latest on. */
  readonly before: PageKey | null;
  readonly limit: number;
  readonly statuses: ReadonlySet<JobState>;
  /** Listed besides, whatever their status, where they are here. */
  readonly alsoIds: readonly JobId[];
}

/** The living jobs that a page of `/requests` may hold, one more than its limit, and those that are named. */
export function viewJobs(state: EndpointState, wanted: JobsWanted, atMs: number): Slice<ListedJob> {
  const { found, through } = findJobs(state, wanted);
  const named = wanted.alsoIds.map((jobId) => state.jobs.get(jobId)).filter((job) => job !== undefined);
  const jobs = [...new Set([...found, ...named])].toSorted((a, b) => newestFirst(a.data, b.data));
  return { entries: jobs.map((job) => listed(state, job, atMs)), through };
}

interface Found {
  readonly found: readonly LivingJob[];
  readonly through: PageKey | null;
}

function findJobs(state: EndpointState, { before, limit, statuses }: JobsWanted): Found {
  const found: LivingJob[] = [];
  let scanned = 0;
  for (const job of state.bySubmission.backwards(before === null ? null : { data: before })) {
    scanned += 1;
    if (statuses.has(job.data.state)) found.push(job);
    if (found.length > limit || scanned === SCAN_MAX) return { found, through: keyOf(job.data) };
  }
  return { found, through: null };
}

const listed = (state: EndpointState, job: LivingJob, atMs: number): ListedJob => ({
  ...summarizeJob(job.data, atMs),
  queue: listedQueue(state, job, atMs),
});

const keyOf = ({ createdAtMs, jobId }: JobData): PageKey => ({ createdAtMs, jobId });

function listedQueue(state: EndpointState, job: LivingJob, atMs: number): ListedQueue | null {
  const sight = queueSightOf(state, job, atMs);
  if (sight === null) return null;
  const { attempt, isLowPriority, notBeforeMs, queuedAtMs } = job.data;
  return { ...sight, attempt, isLowPriority, notBeforeMs, queuedAtMs };
}

/** Null: there is no such job. */
export function viewDescription(state: EndpointState, jobId: JobId, atMs: number): DescribedJob | null {
  const job = state.jobs.get(jobId);
  if (job === undefined) return null;
  return { detail: describeJob(job.data, atMs), queue: listedQueue(state, job, atMs) };
}

/** Of a job that was queued again and again the newest are told. */
const DELIVERIES_TOLD_MAX = 256;

/**
 * Of one job, oldest first; null: there is neither the job nor any delivery of it. Looks through all deliveries of the
 * endpoint, which are few beside its jobs: those that are not over, and those that are kept to be told.
 */
export function viewDeliveries(state: EndpointState, jobId: JobId): readonly ToldDelivery[] | null {
  const own = [...state.deliveries.values(), ...state.delivered.values()].filter(({ data }) => data.jobId === jobId);
  if (own.length === 0 && !state.jobs.has(jobId)) return null;
  const told = own.map(({ data }) => toldDelivery(data)).toSorted((a, b) => a.attempt - b.attempt);
  return told.slice(-DELIVERIES_TOLD_MAX);
}

const toldDelivery = ({ attempt, claim, jobId, nextAtMs, outcome, tries, url }: DeliveryData): ToldDelivery => ({
  jobId,
  attempt,
  url,
  tries,
  nextAtMs,
  outcome,
  isClaimed: claim !== null,
});

/** The data that the holder of an attempt must know to write beside the log in its name. */
export interface HeldAttempt {
  readonly createdAtMs: number;
  /** Where the manifest of the job's input is found; null: the input lies in the log. */
  readonly input: PayloadReference | null;
}

/** Null: the attempt is nobody's any more, or somebody else's. */
export function viewHold(state: EndpointState, proof: AttemptProof): HeldAttempt | null {
  const job = findHeld(state, proof);
  if (job === null) return null;
  const { bodyBytes, createdAtMs } = job.data;
  return { createdAtMs, input: bodyBytes > INLINE_INPUT_MAX_BYTES ? bodyReference(job) : null };
}

/** The data that the holder of an attempt gets to run it. Durations in ms from now. */
export interface AttemptAssignment {
  readonly jobId: JobId;
  readonly attempt: number;
  readonly token: string;
  readonly hostId: HostId;
  readonly body: HeldPayload<JobBody>;
  readonly executionTimeoutMs: number;
  readonly expiresInMs: number;
  readonly delayTimeMs: number;
  readonly retries: number;
}

/** Null: nobody runs the job. */
export function viewAssignment(state: EndpointState, jobId: JobId, atMs: number): AttemptAssignment | null {
  const job = state.jobs.get(jobId);
  if (job === undefined) return null;
  const { data } = job;
  const { attempt, current, expiresAtMs } = data;
  if (current === null || data.state !== 'IN_PROGRESS') return null;
  return {
    jobId,
    attempt,
    token: current.token,
    hostId: current.hostId,
    body: heldBody(job),
    executionTimeoutMs: Math.max(1, current.deadlineAtMs - atMs),
    expiresInMs: Math.max(1, expiresAtMs - atMs),
    delayTimeMs: jobTimes(data, atMs).delayTime,
    retries: retriesOf(data),
  };
}
