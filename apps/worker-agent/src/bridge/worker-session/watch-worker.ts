/** Several ping intervals: the machine may be busy. */
const SILENCE_MS = 35_000;
/** Two ping intervals and some: a worker that has read its job says so with the next ping. */
const UNHEARD_MS = 25_000;
/** More than a ping interval: the last ping was not on its way when the job was delivered. */
const PINGED_AFTER_MS = 12_000;
/** From the stop to the kill (API decisions 2.8). */
const KILL_AFTER_MS = 10_000;

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
 * True when the pings of a worker have not named a job for too long since it was delivered, or since the worker's main
 * side last did anything else: until then a job before it may have kept the worker from reading it. Of a worker that
 * says nothing at all its silence is judged. Instants as above.
 */
export const isUnheard = (job: {
  readonly nowMs: number;
  readonly pingedAtMs: number;
  readonly deliveredAtMs: number;
  readonly mainSeenAtMs: number;
}): boolean => {
  const sinceMs = Math.max(job.deliveredAtMs, job.mainSeenAtMs);
  return job.nowMs - sinceMs >= UNHEARD_MS && job.pingedAtMs - sinceMs >= PINGED_AFTER_MS;
};

/**
 * True when a stopped job holds on for so long that its worker must be killed. A worker that lets go of one job among
 * others has said so by then: at least one of its pings was sent after it heard the stop.
 */
export const mustBeKilled = (job: {
  readonly nowMs: number;
  readonly stop: { readonly sinceMs: number } | null;
}): boolean => job.stop !== null && job.nowMs - job.stop.sinceMs >= KILL_AFTER_MS;

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
