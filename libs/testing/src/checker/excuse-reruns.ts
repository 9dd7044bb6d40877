import type { BrokenPromise } from './check-history.js';

/** A time in which a host's agent stood still. Unix ms. */
export interface Standstill {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** After a standstill a host needs this long to learn which of its attempts were given away. */
const THAW_MS = 10_000;

/**
 * Leaves out what a standing host excuses: the lease of an attempt ran out meanwhile, with the attempt's result still in
 * the host's journal, so the job rightly ran again.
 *
 * @param lostAtMs by job: when its attempts were given away, as the service tells it
 */
export function excuseReruns(
  broken: readonly BrokenPromise[],
  lostAtMs: ReadonlyMap<string, readonly number[]>,
  standstills: readonly Standstill[],
): readonly BrokenPromise[] {
  const isExcused = (atMs: number): boolean =>
    standstills.some(({ fromMs, untilMs }) => fromMs < atMs && atMs < untilMs + THAW_MS);
  return broken.filter(
    ({ jobId, promise }) => promise !== 'ran-again-after-its-result' || lostAtMs.get(jobId)?.some(isExcused) !== true,
  );
}
