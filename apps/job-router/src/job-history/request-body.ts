import type { JobDetail, JobSummary, ToldAttempt } from '@berth/domain';
import type { QueueBody } from '../queue-reasons/index.js';

/** A job of the list. A member that does not apply is null; `queue` stands with jobs that wait, and nowhere else. */
export const requestBody = (job: JobSummary, queue: QueueBody | null): object => ({
  id: job.jobId,
  status: job.status,
  createdAt: instant(job.createdAtMs),
  startedAt: instant(job.startedAtMs),
  completedAt: instant(job.endedAtMs),
  delayTime: job.delayTimeMs,
  executionTime: job.executionTimeMs,
  workerId: job.workerId,
  attempts: job.attempts,
  error: job.error,
  ...(queue === null ? {} : { queue }),
});

/** One job, with all its attempts. */
export const requestDetailBody = (job: JobDetail, queue: QueueBody | null): object => ({
  ...requestBody(job, queue),
  webhook: job.webhook,
  history: job.attemptList.map(attemptBody),
});

const attemptBody = (attempt: ToldAttempt): object => ({
  attempt: attempt.attempt,
  hostId: attempt.hostId,
  workerId: attempt.workerId,
  startedAt: instant(attempt.startedAtMs),
  endedAt: instant(attempt.endedAtMs),
  stoppedAt: instant(attempt.stoppedAtMs),
  outcome: attempt.outcome,
  reason: attempt.reason,
  logTail: attempt.logTail,
});

const instant = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
