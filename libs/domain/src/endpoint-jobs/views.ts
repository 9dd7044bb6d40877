import type { HostId, JobId, WorkerId } from '../ids.js';
import { jobTimes, retriesOf, type JobState, type Payload } from '../job/index.js';
import type { PageKey, Slice } from '../job-history/index.js';
import type { QueueView } from '../queue-reason/index.js';
import type { Demand } from '../scaling/index.js';
import { referencesOf, type LogReference } from './carry.js';
import type { JobBody, JobData } from './job-data.js';
import type { EndpointState } from './state.js';

/** What `/status` tells, but for why the job waits. Durations in ms. */
export interface JobStatusView {
  readonly jobId: JobId;
  readonly state: JobState;
  readonly delayTimeMs: number;
  readonly executionTimeMs: number;
  readonly error: string | null;
  readonly retries: number;
  readonly workerId: WorkerId | null;
  readonly output: HeldPayload<Payload>;
}

/** A payload, or where the log has it; both null: there is none, or its batch is not committed yet. */
export interface HeldPayload<T> {
  readonly value: T | null;
  readonly reference: LogReference | null;
}

/** Null: there is no such job. @param atMs as for `decide`, after the same `advance` and with nothing expired left */
export function viewStatus(state: EndpointState, jobId: JobId, atMs: number): JobStatusView | null {
  const job = state.jobs.get(jobId);
  if (job === undefined) return null;
  const { data } = job;
  const { delayTime, executionTime } = jobTimes(data, atMs);
  return {
    jobId,
    state: data.state,
    delayTimeMs: delayTime,
    executionTimeMs: executionTime,
    error: data.error,
    retries: retriesOf(data),
    workerId: data.current?.workerId ?? null,
    output: { value: job.output, reference: referencesOf(job).output },
  };
}

/** The counts of `/health` that concern jobs. */
export interface JobCounts {
  readonly completed: number;
  /** A job that ran out of time has failed as far as these counts go: the specification has no fifth word for it. */
  readonly failed: number;
  readonly inProgress: number;
  readonly inQueue: number;
  readonly retried: number;
}

export const viewHealth = (state: EndpointState): JobCounts => ({
  completed: state.counters.completed,
  failed: state.counters.failed + state.counters.timedOut,
  inProgress: runningOf(state),
  inQueue: waitingOf(state.normal) + waitingOf(state.low),
  retried: state.counters.retried,
});

const runningOf = ({ runningLow, runningNormal }: EndpointState): number => runningNormal + runningLow;

const waitingOf = ({ delayed, ready }: EndpointState['normal']): number => delayed.size + ready.size;

/** A waiting job's number in start order, from 1; null where it does not wait. */
export function viewPosition(state: EndpointState, jobId: JobId): number | null {
  const job = state.jobs.get(jobId);
  if (job?.data.state !== 'IN_QUEUE') return null;
  const before = ({ delayed, ready }: EndpointState['normal']): number => ready.before(job) + delayed.before(job);
  return 1 + (job.data.isLowPriority ? waitingOf(state.normal) + before(state.low) : before(state.normal));
}

/** What the log knows of why a job waits; null where it does not. The rest is what is known of workers. */
export function viewQueue(
  state: EndpointState,
  jobId: JobId,
  atMs: number,
): Pick<QueueView, 'job' | 'position' | 'running' | 'endedLastMinute' | 'executionMsLastMinute'> | null {
  const position = viewPosition(state, jobId);
  const job = state.jobs.get(jobId);
  if (position === null || job === undefined) return null;
  const { attempt, isLowPriority, notBeforeMs, queuedAtMs } = job.data;
  const { ended, executionMs } = state.pace.read(atMs);
  return {
    job: { attempt, lowPriority: isLowPriority, notBeforeMs, queuedAtMs },
    position,
    running: runningOf(state),
    endedLastMinute: ended,
    executionMsLastMinute: executionMs,
  };
}

export function viewDemand(state: EndpointState, atMs: number): Demand {
  const { ended, executionMs } = state.pace.read(atMs);
  return {
    queuedNormal: waitingOf(state.normal),
    queuedLow: waitingOf(state.low),
    running: runningOf(state),
    runningLow: state.runningLow,
    oldestQueuedAtMs: oldestOf(state),
    endedLastMinute: ended,
    executionMsLastMinute: executionMs,
  };
}

function oldestOf({ normal: { delayed, ready } }: EndpointState): number | null {
  const instants = [ready.first, delayed.first].flatMap((job) => (job === undefined ? [] : [job.data.queuedAtMs]));
  return instants.length === 0 ? null : Math.min(...instants);
}

/** Jobs looked at for one page: where few have the wanted status, the page ends here and the next goes on. */
const SCAN_MAX = 50_000;

/** The living jobs that a page of `/requests` may hold, one more than its limit. */
export function viewJobs(
  state: EndpointState,
  {
    before,
    limit,
    statuses,
  }: { readonly before: PageKey | null; readonly limit: number; readonly statuses: ReadonlySet<JobState> },
): Slice<PageKey> {
  const entries: PageKey[] = [];
  let scanned = 0;
  for (const { data } of state.bySubmission.backwards(before === null ? null : { data: before })) {
    scanned += 1;
    if (statuses.has(data.state)) entries.push(keyOf(data));
    if (entries.length > limit || scanned === SCAN_MAX) return { entries, through: keyOf(data) };
  }
  return { entries, through: null };
}

const keyOf = ({ createdAtMs, jobId }: JobData): PageKey => ({ createdAtMs, jobId });

/** What the holder of an attempt gets to run it. Durations in ms from now. */
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
    body: { value: job.body, reference: referencesOf(job).body },
    executionTimeoutMs: Math.max(1, current.deadlineAtMs - atMs),
    expiresInMs: Math.max(1, expiresAtMs - atMs),
    delayTimeMs: jobTimes(data, atMs).delayTime,
    retries: retriesOf(data),
  };
}

/** When the owner must look again, Unix ms; infinite where nothing will ever be due. */
export const nextLookAtMs = ({ delays, lives, running, sending }: EndpointState): number =>
  Math.min(delays.nextAtMs, lives.nextAtMs, running.nextAtMs, sending.nextAtMs);
