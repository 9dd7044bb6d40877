/** By which operation a job came. */
export type JobOrigin = 'run' | 'runsync';

/** Bounds and defaults of `policy` and `wait` (API decisions 2.1), in ms. */
export const EXECUTION_TIMEOUT_MIN_MS = 5_000;
export const EXECUTION_TIMEOUT_MAX_MS = 7 * 24 * 3_600_000;
/** Used only where an endpoint has no timeout of its own. */
export const EXECUTION_TIMEOUT_DEFAULT_MS = 600_000;
/** Said of every job that ran out of execution time (API decisions 2.4). */
export const EXECUTION_TIMEOUT_ERROR = 'executionTimeout exceeded';
export const TTL_MIN_MS = 10_000;
export const TTL_MAX_MS = 7 * 24 * 3_600_000;
export const TTL_DEFAULT_MS = 24 * 3_600_000;
/** The least that `/status?ttl=` leaves of a job's life (API decisions 2.5); `TTL_MAX_MS` is the most. */
export const LIFE_MIN_MS = 1_000;
export const WAIT_MIN_MS = 1_000;
export const WAIT_MAX_MS = 300_000;
export const WAIT_DEFAULT_MS = 90_000;

const RUN_RETENTION_MS = 30 * 60_000;
const RUNSYNC_RETENTION_MS = 60_000;

/** How long a result stays readable: `/runsync` keeps it longer only for a caller that waits longer than the default. */
export function retentionMs(origin: JobOrigin, waitMs: number): number {
  if (origin === 'run') return RUN_RETENTION_MS;
  return waitMs > WAIT_DEFAULT_MS ? Math.min(waitMs, WAIT_MAX_MS) : RUNSYNC_RETENTION_MS;
}
