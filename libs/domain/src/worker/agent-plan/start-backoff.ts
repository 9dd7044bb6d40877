/** After this many failed starts in a row a worker is unhealthy; it keeps trying at the slow pace of the schedule. */
export const UNHEALTHY_AFTER_FAILURES = 5;

/** A worker that was ready for this long, or finished a job, has started well: earlier failures are forgotten. */
export const STABLE_AFTER_MS = 60_000;

const BASE_MS = 1_000;
const CEILING_MS = 300_000;

/** Delay before the start after `failedStarts` failures in a row: none, then 1, 2, 4 … 300 s (API decisions 4.5). */
export const startDelayMs = (failedStarts: number): number =>
  failedStarts <= 0 ? 0 : Math.min(CEILING_MS, BASE_MS * 2 ** (failedStarts - 1));

/** How one life of a container ended. */
export interface ContainerEnd {
  /** Null where it is not known. */
  readonly exitCode: number | null;
  /** How long it was ready for jobs; null when it never was. */
  readonly readyForMs: number | null;
  readonly finishedJobs: number;
  /** The agent asked for it: drain, recycling, or a kill for a job's sake. */
  readonly isExpected: boolean;
}

/**
 * Failed starts in a row after a container ended. A worker that leaves with code 0 after a job recycles itself, as
 * `refresh_worker` does, and has not failed; one that leaves without ever finishing a job has, whatever its code.
 */
export function failuresAfterEnd(failedStarts: number, end: ContainerEnd): number {
  const isStable = end.finishedJobs > 0 || (end.readyForMs !== null && end.readyForMs >= STABLE_AFTER_MS);
  const isClean = end.exitCode === 0 && end.finishedJobs > 0;
  return (isStable ? 0 : failedStarts) + (end.isExpected || isClean ? 0 : 1);
}
