import { isGone } from './expiry.js';
import type { Job } from './job.js';
import { changed, move, refused, unchanged, type Verdict } from './verdict.js';

/**
 * A worker that ran out of time is told to stop and is killed 10 s later; a little more for the way. Until its host has
 * said that it let go, its job is given to nobody else before this.
 */
export const STOP_SETTLES_MS = 12_000;

/**
 * `FAILED | TIMED_OUT → IN_QUEUE` as a new attempt, at a caller's word: same input, same end of life, no charge, and
 * nothing left of what the attempt before it showed. Its repeat, while the job still waits for that attempt, is
 * `unchanged`.
 */
export function retryJob(job: Job, nowMs: number): Verdict {
  if (isGone(job, nowMs)) return refused(job, 'gone');
  if (waitsByRetry(job)) return unchanged(job);
  if (job.state !== 'FAILED' && job.state !== 'TIMED_OUT') return refused(job, 'not-retriable');
  return changed(
    move(job, 'IN_QUEUE', {
      attempt: job.attempt + 1,
      charged: 0,
      current: null,
      queuedAtMs: nowMs,
      notBeforeMs: Math.max(nowMs, letGoAtMs(job)),
      endedAtMs: null,
      output: null,
      error: null,
      chunks: 0,
    }),
  );
}

/** Queued by a retry and not taken since: a requeue after a loss leaves another outcome in the history. */
function waitsByRetry({ state, history }: Job): boolean {
  const outcome = history.at(-1)?.outcome;
  return state === 'IN_QUEUE' && (outcome === 'FAILED' || outcome === 'TIMED_OUT');
}

/** When the worker of the last attempt has surely let go; 0: it has. */
function letGoAtMs({ state, endedAtMs, history }: Job): number {
  const stoppedAtMs = history.at(-1)?.stoppedAtMs ?? null;
  return state === 'TIMED_OUT' && stoppedAtMs === null && endedAtMs !== null ? endedAtMs + STOP_SETTLES_MS : 0;
}
