import type { StopReason } from '../job-client/job-client.service.js';

/** Three ping intervals and some slack. */
const SILENCE_MS = 35_000;
/** From the stop to the kill (decisions, "Cancel of a running job"). */
const KILL_AFTER_MS = 10_000;
/** Where the next ping can still spare the other jobs of the worker: pings come every 10 s. */
const PING_GRACE_MS = 2_500;
/** A ping that left before the stop was heard proves nothing. */
const HEARD_AFTER_MS = 500;

/**
 * True when a worker that used to ping has said nothing at all for too long. One that never pinged is judged by its
 * process alone. Instants are of the monotonic clock, in ms.
 */
export const isSilent = (worker: {
  readonly nowMs: number;
  readonly pingedAtMs: number | null;
  readonly seenAtMs: number;
}): boolean => worker.pingedAtMs !== null && worker.nowMs - worker.seenAtMs > SILENCE_MS;

/**
 * True when a stopped job holds on for so long that its worker must be killed. Where other jobs would die with it and
 * a ping may yet tell that the job is gone, the next ping is waited for.
 */
export function mustBeKilled(job: {
  readonly nowMs: number;
  readonly pingedAtMs: number | null;
  readonly stop: { readonly reason: StopReason; readonly sinceMs: number } | null;
  readonly canPingTell: boolean;
}): boolean {
  if (job.stop === null) return false;
  const heldMs = job.nowMs - job.stop.sinceMs;
  const hasPinged = job.pingedAtMs !== null && job.pingedAtMs > job.stop.sinceMs + HEARD_AFTER_MS;
  const isWorthWaiting = job.canPingTell && job.pingedAtMs !== null && !hasPinged;
  return heldMs >= KILL_AFTER_MS + (isWorthWaiting ? PING_GRACE_MS : 0);
}

const REFRESH_AFTER_MS = [1_500, 5_000] as const;

/**
 * True when the worker should be made to ask for jobs anew: its parked take was sent before the stop, and the next one
 * says whether it still runs a job.
 */
export function isRefreshDue(job: {
  readonly nowMs: number;
  readonly stop: { readonly sinceMs: number } | null;
  readonly refreshes: number;
}): boolean {
  const afterMs = REFRESH_AFTER_MS[job.refreshes];
  return job.stop !== null && afterMs !== undefined && job.nowMs - job.stop.sinceMs >= afterMs;
}
