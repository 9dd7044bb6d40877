import type { HostId, JobId, WorkerId } from '../ids.js';
import { jobTimes, type AttemptPlace, type AttemptRecord, type JobOrigin, type JobState } from '../job/index.js';
import { webhookOrigin } from '../webhook/index.js';

/** The part of a job that a list tells: no payloads. Instants are Unix ms, durations ms. */
export interface JobSummary {
  readonly jobId: JobId;
  readonly status: JobState;
  readonly origin: JobOrigin;
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

/** Longest text of an error, of a reason or of a line of a log that is told or kept in the history. */
export const TOLD_TEXT_MAX = 4_096;

/** The source of everything that is told of a job, while it lives and from its end. Instants are Unix ms. */
export interface ToldJob {
  readonly jobId: JobId;
  readonly state: JobState;
  readonly origin: JobOrigin;
  readonly createdAtMs: number;
  /** Submission, or the last requeue. */
  readonly queuedAtMs: number;
  readonly endedAtMs: number | null;
  /** Of the present or next attempt, from 1. */
  readonly attempt: number;
  readonly current: AttemptPlace | null;
  /** Attempts that are over, oldest first. */
  readonly history: readonly AttemptRecord[];
  readonly error: string | null;
  readonly webhook: string | null;
}

export function summarizeJob(job: ToldJob, nowMs: number): JobSummary {
  const { current } = job;
  const { delayTime, executionTime } = jobTimes(job, nowMs);
  return {
    jobId: job.jobId,
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

export const describeJob = (job: ToldJob, nowMs: number): JobDetail => ({
  ...summarizeJob(job, nowMs),
  attemptList: [...job.history.map(toldAttempt), ...runningAttempt(job)],
  webhook: job.webhook === null ? null : boundedOrigin(job.webhook),
});

export const toldAttempt = (attempt: AttemptRecord): ToldAttempt => ({
  ...attempt,
  reason: boundedText(attempt.reason),
  logTail: attempt.logTail.map(boundedText),
});

function runningAttempt({ attempt, current, state }: ToldJob): readonly ToldAttempt[] {
  if (current === null || state !== 'IN_PROGRESS') return [];
  const { hostId, startedAtMs, workerId } = current;
  const open = { endedAtMs: null, outcome: null, reason: null, stoppedAtMs: null, logTail: [] };
  return [{ attempt, hostId, workerId, startedAtMs, ...open }];
}

/** A database keeps neither NUL nor half of a surrogate pair. */
const UNKEEPABLE = /\0|\p{Surrogate}/gu;

const boundedText = (text: string): string =>
  (text.length <= TOLD_TEXT_MAX ? text : `${text.slice(0, TOLD_TEXT_MAX - 1)}…`).replace(UNKEEPABLE, '\uFFFD');

const boundedOrigin = (url: string): string | null => {
  const origin = webhookOrigin(url);
  return origin === null ? null : boundedText(origin);
};
