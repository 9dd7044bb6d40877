import type { HostId, WorkerId } from '../ids.js';
import { withAttempt } from './attempt-history.js';
import { isGone } from './expiry.js';
import type { CurrentAttempt, Job } from './job.js';
import { isEnded, type JobState } from './job-state.js';
import type { Payload } from './payload.js';
import { ATTEMPTS_MAX } from './retry-schedule.js';
import { changed, move, refused, unchanged, type Refusal, type Verdict } from './verdict.js';

export interface Taker {
  readonly attempt: number;
  readonly token: string;
  readonly hostId: HostId;
  readonly workerId: WorkerId;
}

/** What a worker, or the agent in its place, says of an attempt. */
export type Result =
  | { readonly kind: 'completed'; readonly output: Payload | null; readonly chunks: number }
  | {
      readonly kind: 'failed';
      readonly error: string;
      readonly output: Payload | null;
      readonly chunks: number;
      readonly logTail?: readonly string[] | undefined;
    }
  | {
      readonly kind: 'timed-out';
      readonly error: string;
      readonly chunks: number;
      readonly logTail?: readonly string[] | undefined;
    };

/** Progress in the name of the attempt that the token names. */
export interface Progress {
  readonly token: string;
  readonly output: Payload;
}

/** A result in the name of the attempt that the token names. */
export interface Report {
  readonly token: string;
  readonly result: Result;
}

export interface Loss {
  readonly attempt: number;
  /** Given by the loser itself; absent when maintenance found the loss. */
  readonly token?: string;
  readonly reason: string;
  /** False where nobody's job is at fault: given back unstarted, sibling killed, host drained. */
  readonly isCharged: boolean;
  /** Delay before the next attempt, in ms. */
  readonly delayMs: number;
  /** See `AttemptRecord.logTail`; what is more than fits is cut. */
  readonly logTail?: readonly string[] | undefined;
}

/** `IN_QUEUE → IN_PROGRESS`. A repeat by the same token is `unchanged`. */
export function takeJob(job: Job, taker: Taker, nowMs: number): Verdict {
  if (isGone(job, nowMs)) return refused(job, 'gone');
  if (job.attempt !== taker.attempt) return refused(job, 'other-attempt');
  if (job.state === 'IN_PROGRESS' && job.current?.token === taker.token) return unchanged(job);
  if (job.state !== 'IN_QUEUE') return refused(job, 'not-queued');
  if (nowMs < job.notBeforeMs) return refused(job, 'not-yet');
  const current: CurrentAttempt = {
    token: taker.token,
    hostId: taker.hostId,
    workerId: taker.workerId,
    startedAtMs: nowMs,
    deadlineAtMs: nowMs + job.executionTimeoutMs,
  };
  return changed(move(job, 'IN_PROGRESS', { current, output: null, error: null, chunks: 0 }));
}

/** Progress of a running attempt: kept as the visible output, dropped once the job has ended. */
export function reportProgress(job: Job, { token, output }: Progress, nowMs: number): Verdict {
  const fence = checkFence(job, token, nowMs);
  if (fence !== null) return refused(job, fence);
  return changed({ ...job, output });
}

/** `IN_PROGRESS → COMPLETED | FAILED | TIMED_OUT` by the current token; its repeat is `unchanged`. */
export function finishJob(job: Job, { token, result }: Report, nowMs: number): Verdict {
  const isRepeat = isEnded(job.state) && job.state !== 'CANCELLED' && job.current?.token === token;
  if (isRepeat) return unchanged(job);
  const fence = checkFence(job, token, nowMs);
  if (fence !== null) return refused(job, fence);
  const state = STATE_OF_RESULT[result.kind];
  const error = result.kind === 'completed' ? null : result.error;
  const output = result.kind === 'timed-out' ? null : result.output;
  const logTail = result.kind === 'completed' ? undefined : result.logTail;
  return changed(end(job, state, { error, output, chunks: result.chunks, logTail, nowMs }));
}

/** `IN_QUEUE | IN_PROGRESS → CANCELLED`. An ended job keeps the state it has. */
export function cancelJob(job: Job, nowMs: number): Verdict {
  if (isGone(job, nowMs)) return refused(job, 'gone');
  if (isEnded(job.state)) return unchanged(job);
  return changed(end(job, 'CANCELLED', { error: null, output: null, chunks: job.chunks, nowMs }));
}

/** The router's backstop behind the agent's own clock: `IN_PROGRESS → TIMED_OUT` once `graceMs` past the deadline. */
export function timeOutJob(job: Job, graceMs: number, nowMs: number): Verdict {
  if (isGone(job, nowMs)) return refused(job, 'gone');
  if (job.state !== 'IN_PROGRESS' || job.current === null) return refused(job, 'ended');
  if (nowMs < job.current.deadlineAtMs + graceMs) return refused(job, 'not-yet');
  return changed(end(job, 'TIMED_OUT', { error: EXECUTION_TIMEOUT_ERROR, output: null, chunks: 0, nowMs }));
}

/** `IN_PROGRESS(n) → IN_QUEUE(n+1)`, or `FAILED` when this was the last attempt that a fault may cost. */
export function loseAttempt(job: Job, loss: Loss, nowMs: number): Verdict {
  if (isGone(job, nowMs)) return refused(job, 'gone');
  if (job.attempt !== loss.attempt) return refused(job, 'other-attempt');
  if (job.state !== 'IN_PROGRESS') return refused(job, 'ended');
  if (loss.token !== undefined && job.current?.token !== loss.token) return refused(job, 'superseded');
  const charged = job.charged + (loss.isCharged ? 1 : 0);
  if (charged >= ATTEMPTS_MAX) {
    const error = `${loss.reason} (attempt ${charged} of ${ATTEMPTS_MAX})`;
    return changed({
      ...end(job, 'FAILED', { error, output: null, chunks: 0, logTail: loss.logTail, nowMs }),
      charged,
    });
  }
  return changed(
    move(job, 'IN_QUEUE', {
      attempt: job.attempt + 1,
      charged,
      current: null,
      queuedAtMs: nowMs,
      notBeforeMs: nowMs + loss.delayMs,
      output: null,
      error: null,
      chunks: 0,
      history: withAttempt(job, { outcome: 'lost', reason: loss.reason, logTail: loss.logTail, nowMs }),
    }),
  );
}

/** Said of every job that ran out of execution time (decisions, "Execution timeout"). */
export const EXECUTION_TIMEOUT_ERROR = 'executionTimeout exceeded';

const STATE_OF_RESULT = { completed: 'COMPLETED', failed: 'FAILED', 'timed-out': 'TIMED_OUT' } as const;

function checkFence(job: Job, token: string, nowMs: number): Refusal | null {
  if (isGone(job, nowMs)) return 'gone';
  if (job.current?.token !== token) return 'superseded';
  return job.state === 'IN_PROGRESS' ? null : 'ended';
}

interface Ending {
  readonly error: string | null;
  readonly output: Payload | null;
  readonly chunks: number;
  readonly logTail?: readonly string[] | undefined;
  readonly nowMs: number;
}

function end(job: Job, state: JobState, { error, output, chunks, logTail, nowMs }: Ending): Job {
  const history = withAttempt(job, { outcome: state, reason: error ?? state, logTail, nowMs });
  return move(job, state, { error, output, chunks, endedAtMs: nowMs, history });
}
