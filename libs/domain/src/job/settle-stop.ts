import { withStop } from './attempt-history.js';
import { isGone } from './expiry.js';
import type { Job } from './job.js';
import { changed, refused, unchanged, type Verdict } from './verdict.js';

/** A host's word that the worker of an attempt that was cancelled or timed out has let go of it. */
export interface Stop {
  readonly attempt: number;
  readonly token: string;
  /** On the routers' clock. */
  readonly stoppedAtMs: number;
  /** See `AttemptRecord.logTail`; what is more than fits is cut. */
  readonly logTail?: readonly string[] | undefined;
}

/** Notes when the worker of the job's last attempt really let go, once. Neither the state nor the life changes. */
export function settleStop(job: Job, stop: Stop, nowMs: number): Verdict {
  const { attempt, token, logTail } = stop;
  if (isGone(job, nowMs)) return refused(job, 'gone');
  if (job.attempt !== attempt) return refused(job, 'other-attempt');
  if (job.current?.token !== token) return refused(job, 'superseded');
  const last = job.history.at(-1);
  const isStopping = job.state === 'CANCELLED' || job.state === 'TIMED_OUT';
  if (!isStopping || last?.attempt !== attempt) return refused(job, 'not-stopping');
  if (last.stoppedAtMs !== null) return unchanged(job);
  const stoppedAtMs = within(stop.stoppedAtMs, last.startedAtMs, nowMs);
  return changed({ ...job, history: withStop(job.history, { stoppedAtMs, logTail }) });
}

/** Clocks of hosts are not the routers': what lies outside the attempt's own time is brought back to it. */
const within = (atMs: number, earliestMs: number, latestMs: number): number =>
  Math.max(earliestMs, Math.min(atMs, latestMs));
