import { totalWorkers, type WorkerCounts } from './count-workers.js';
import type { Demand } from './demand.js';

/** A worker that was added because a job had waited too long. */
export interface AddedForDelay {
  readonly atMs: number;
  /** How many workers it made: still wanted while a job is overdue, also when there was no room for it yet. */
  readonly workers: number;
}

/**
 * Workers with which, at the pace of the last minute, every waiting job starts within the delay; a busy one has to end
 * its present job first. With nothing measured there is no reason to want any.
 */
export function paceNeed(delayMs: number, demand: Demand, busy: number): number {
  const starts = startsPerWorker(delayMs, demand);
  if (starts === null) return 0;
  return busy + Math.max(0, Math.ceil((demand.queuedNormal - busy * (starts - 1)) / starts));
}

/** How many jobs one free worker can start within the delay; null without a measure. */
function startsPerWorker(delayMs: number, demand: Demand): number | null {
  if (demand.endedLastMinute === 0) return null;
  const executionMs = Math.max(1, demand.executionMsLastMinute / demand.endedLastMinute);
  return Math.floor(delayMs / executionMs) + 1;
}

export interface OverdueQuestion {
  readonly demand: Demand;
  readonly workers: WorkerCounts;
  readonly addedForDelay: AddedForDelay | null;
}

export interface OverdueNeed {
  readonly workers: number;
  readonly addedForDelay: AddedForDelay | null;
  /** When the passing of time alone may change the answer; null if never. */
  readonly recheckAtMs: number | null;
}

/**
 * One worker more once the oldest job has waited too long, and again after each further delay, unless those on their
 * way will take what waits. An idle worker counts for one job only: had it taken more, nothing would be overdue.
 */
export function overdueNeed(delayMs: number, question: OverdueQuestion, nowMs: number): OverdueNeed {
  const { demand, workers, addedForDelay } = question;
  const coming = workers.idle + workers.starting * (startsPerWorker(delayMs, demand) ?? 1);
  if (coming >= demand.queuedNormal) return { workers: 0, addedForDelay: lapsed(addedForDelay), recheckAtMs: null };
  const overdueAtMs = (demand.oldestQueuedAtMs ?? nowMs) + delayMs + 1;
  const nextAtMs = addedForDelay === null ? overdueAtMs : Math.max(overdueAtMs, addedForDelay.atMs + delayMs);
  if (nowMs < overdueAtMs) return { workers: 0, addedForDelay: lapsed(addedForDelay), recheckAtMs: overdueAtMs };
  const present = totalWorkers(workers);
  if (nowMs < nextAtMs) {
    return { workers: Math.max(present, addedForDelay?.workers ?? 0), addedForDelay, recheckAtMs: nextAtMs };
  }
  const added = { atMs: nowMs, workers: present + 1 };
  return { workers: added.workers, addedForDelay: added, recheckAtMs: nowMs + delayMs };
}

/** Nothing is overdue now: the worker is not wanted on its account any more, but the next one still keeps its distance. */
const lapsed = (added: AddedForDelay | null): AddedForDelay | null =>
  added === null ? null : { ...added, workers: 0 };
