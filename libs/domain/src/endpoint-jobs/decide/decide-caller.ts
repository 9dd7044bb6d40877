import { isEnded, STOP_SETTLES_MS, TTL_MAX_MS, type JobState } from '../../job/index.js';
import type { CancelCommand, CommandDecision, ReplaceLifeCommand, RetryCommand } from '../commands.js';
import type { JobData } from '../job-data.js';
import type { EndpointState } from '../state.js';
import { jobIs, jobWillBe, noJob, refused, summaryOf } from './outcome.js';

/** `CANCELLED` at once for a job that waits or runs; an ended one keeps the state it has. */
export function decideCancel(state: EndpointState, { jobId }: CancelCommand, atMs: number): CommandDecision {
  const job = state.jobs.get(jobId);
  if (job === undefined) return noJob();
  if (isEnded(job.data.state)) return jobIs(job);
  return jobWillBe(jobId, 'CANCELLED', { kind: 'cancelled', atMs, jobId, summary: summaryOf(job.data) });
}

/** Another attempt at a caller's word: same input, same end of life, no charge. */
export function decideRetry(state: EndpointState, { jobId, retryId }: RetryCommand, atMs: number): CommandDecision {
  const job = state.jobs.get(jobId);
  if (job === undefined) return noJob();
  const { data } = job;
  if (data.retryId === retryId) return jobIs(job);
  if (waitsByRetry(data)) return jobIs(job);
  if (data.state !== 'FAILED' && data.state !== 'TIMED_OUT') return notRetriable(data.state);
  const { createdAtMs } = data;
  const attempt = data.attempt + 1;
  const next = { queuePlace: state.nextOrdinal, notBeforeMs: Math.max(atMs, letGoAtMs(data)) };
  return jobWillBe(jobId, 'IN_QUEUE', { kind: 'retried', atMs, jobId, attempt, createdAtMs, retryId, next });
}

/** Queued by a retry and not taken since: a requeue after a loss leaves another outcome in the history. */
function waitsByRetry({ history, state }: JobData): boolean {
  const outcome = history.at(-1)?.outcome;
  return state === 'IN_QUEUE' && (outcome === 'FAILED' || outcome === 'TIMED_OUT');
}

/** When the worker of the last attempt has surely let go; 0: it has. */
function letGoAtMs({ endedAtMs, history, state }: JobData): number {
  const isOpen = (history.at(-1)?.stoppedAtMs ?? null) === null;
  return state === 'TIMED_OUT' && isOpen && endedAtMs !== null ? endedAtMs + STOP_SETTLES_MS : 0;
}

const ADVICE: Readonly<Partial<Record<JobState, string>>> = {
  IN_QUEUE: 'It waits for a worker already.',
  IN_PROGRESS: 'It is being worked on; wait for its end.',
  COMPLETED: 'Submit the input again with /run for another result.',
  CANCELLED: 'Submit the input again with /run.',
};

const notRetriable = (state: JobState): CommandDecision =>
  refused({
    reason: 'not-retriable',
    code: 'job-not-retriable',
    detail: `The job is ${state}, and only FAILED and TIMED_OUT jobs can be retried. ${ADVICE[state] ?? ''}`.trim(),
  });

/** Replaces what is left of a job's life; the result of an ended one lives as long as the job then. */
export function decideReplaceLife(state: EndpointState, command: ReplaceLifeCommand, atMs: number): CommandDecision {
  const { jobId, leftMs } = command;
  const job = state.jobs.get(jobId);
  if (job === undefined) return noJob();
  const { createdAtMs, endedAtMs, expiresAtMs: before, retentionMs: kept, state: jobState } = job.data;
  const expiresAtMs = Math.min(atMs + leftMs, createdAtMs + TTL_MAX_MS);
  const retentionMs = Math.max(kept, endedAtMs === null ? 0 : expiresAtMs - endedAtMs);
  if (expiresAtMs === before && retentionMs === kept) return jobIs(job);
  return jobWillBe(jobId, jobState, { kind: 'life-changed', atMs, jobId, expiresAtMs, retentionMs });
}
