import type { HostId, JobId, WorkerId } from '../ids.js';
import { jobTimes, type AttemptRecord, type Job, type JobState } from '../job/index.js';

/** What a list tells of a job: no payloads. Instants are Unix ms, durations ms. */
export interface JobSummary {
  readonly jobId: JobId;
  readonly status: JobState;
  readonly origin: Job['origin'];
  readonly createdAtMs: number;
  /** Of the present or last attempt; null where none was ever started, or the job waits again. */
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly delayTimeMs: number;
  readonly executionTimeMs: number;
  readonly hostId: HostId | null;
  readonly workerId: WorkerId | null;
  /** How many were started. */
  readonly attempts: number;
  readonly error: string | null;
}

/** One attempt as it is told: the one that runs has no end yet. */
export type ToldAttempt = Omit<AttemptRecord, 'endedAtMs' | 'outcome' | 'reason'> & {
  readonly endedAtMs: number | null;
  readonly outcome: AttemptRecord['outcome'] | null;
  readonly reason: string | null;
};

/** Everything that is told of one job besides its payloads. */
export interface JobDetail extends JobSummary {
  /** Oldest first. */
  readonly attemptList: readonly ToldAttempt[];
  /** Where its end is told, without what may be a secret: path, query and credentials are left out. */
  readonly webhook: string | null;
}

/** Longest text of an error, of a reason or of a line of a log that is told or kept beyond the record. */
export const TOLD_TEXT_MAX = 4_096;

export function summarizeJob(job: Job, nowMs: number): JobSummary {
  const { current } = job;
  const { delayTime, executionTime } = jobTimes(job, nowMs);
  return {
    jobId: job.id,
    status: job.state,
    origin: job.origin,
    createdAtMs: job.createdAtMs,
    startedAtMs: current?.startedAtMs ?? null,
    endedAtMs: job.endedAtMs,
    delayTimeMs: delayTime,
    executionTimeMs: executionTime,
    hostId: current?.hostId ?? null,
    workerId: current?.workerId ?? null,
    attempts: job.attempt - (current === null ? 1 : 0),
    error: job.error === null ? null : boundedText(job.error),
  };
}

export const describeJob = (job: Job, nowMs: number): JobDetail => ({
  ...summarizeJob(job, nowMs),
  attemptList: [...job.history.map(toldAttempt), ...runningAttempt(job)],
  webhook: job.webhook === null ? null : originOf(job.webhook),
});

const toldAttempt = (attempt: AttemptRecord): ToldAttempt => ({
  ...attempt,
  reason: boundedText(attempt.reason),
  logTail: attempt.logTail.map(boundedText),
});

function runningAttempt({ attempt, current, state }: Job): readonly ToldAttempt[] {
  if (current === null || state !== 'IN_PROGRESS') return [];
  const { hostId, startedAtMs, workerId } = current;
  const open = { endedAtMs: null, outcome: null, reason: null, stoppedAtMs: null, logTail: [] };
  return [{ attempt, hostId, workerId, startedAtMs, ...open }];
}

/** A database keeps neither NUL nor half of a surrogate pair. */
const UNKEEPABLE = /\0|\p{Surrogate}/gu;

const boundedText = (text: string): string =>
  (text.length <= TOLD_TEXT_MAX ? text : `${text.slice(0, TOLD_TEXT_MAX - 1)}…`).replace(UNKEEPABLE, '\uFFFD');

const ORIGIN = /^(https?:\/\/)(?:[^/?#]*@)?([^/?#@]+)/i;

const originOf = (url: string): string | null => {
  const [, scheme, host] = ORIGIN.exec(url) ?? [];
  return scheme === undefined || host === undefined ? null : boundedText(`${scheme}${host}`);
};
