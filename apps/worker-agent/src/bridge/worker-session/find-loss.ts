import type { HeldJobs } from './held-jobs.js';
import { LOSS } from './lost-jobs.js';
import { isSilent, isUnheard } from './watch-worker.js';

/** What is known of a worker's life. Instants of the monotonic clock, in ms. */
export interface WorkerSigns {
  readonly nowMs: number;
  /** Its last ping; null where it has never sent one. */
  readonly pingedAtMs: number | null;
  /** Its last call. */
  readonly seenAtMs: number;
  /** When the agent last went on after a standstill of its own: no silence is older. */
  readonly resumedAtMs: number;
}

/** Why a worker must go that holds jobs and has gone silent, or has not even read them; null where it may stay. */
export function findLoss(held: HeldJobs, { nowMs, pingedAtMs, seenAtMs, resumedAtMs }: WorkerSigns): string | null {
  if (held.size === 0 || pingedAtMs === null) return null;
  const jobs = held.values();
  // Where it has read one, that one may keep it from reading the others.
  const isAnyHeard = jobs.some((job) => held.isHeard(job, seenAtMs));
  if (isSilent({ nowMs, pingedAtMs, seenAtMs: Math.max(seenAtMs, resumedAtMs) })) {
    return isAnyHeard ? LOSS.silence : LOSS.unheard;
  }
  const mainSeenAtMs = Math.max(held.mainSeenAtMs, resumedAtMs);
  const areUnheard = !isAnyHeard && jobs.every((job) => isUnheard({ ...job, nowMs, pingedAtMs, mainSeenAtMs }));
  return areUnheard ? LOSS.unheard : null;
}
