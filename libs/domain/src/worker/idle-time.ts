import type { ObservedWorker } from './worker.js';
import type { ContainerSession, WantedWorker, WorkerView } from './agent-plan/worker-view.js';

/**
 * Since when the worker has had no job: the end of its last one. One that was adopted may have ended one a moment before,
 * so it counts from its adoption. Null: it has a job, or has never had one.
 */
export function idleSinceMs({
  isAdopted,
  lastJobEndedAtMs,
  openedAtMs,
  readyAtMs,
  runningJobs,
}: ContainerSession): number | null {
  if (runningJobs > 0) return null;
  return lastJobEndedAtMs ?? (isAdopted && readyAtMs !== null ? openedAtMs : null);
}

/**
 * Until when a worker that was told to leave, or to be paused, for want of jobs goes on all the same: the decision may be
 * older than its last job. Infinite while it has one; null where nothing keeps it.
 */
export function lingersUntilMs({ desired, session }: WorkerView): number | null {
  const afterMs = desired === null ? undefined : idleMsBefore(desired);
  if (afterMs === undefined || session === null || session.releasedAtMs !== null) return null;
  if (session.runningJobs > 0) return Number.POSITIVE_INFINITY;
  const sinceMs = idleSinceMs(session);
  return sinceMs === null ? null : sinceMs + afterMs;
}

function idleMsBefore({ intent, leavesAfterIdleMs, pausesAfterIdleMs }: WantedWorker): number | undefined {
  if (intent === 'paused') return pausesAfterIdleMs;
  return intent === 'drained' ? leavesAfterIdleMs : undefined;
}

/** True while the control plane knows of a job that ended less than the idle time ago. */
export const isRecentlyUsed = (observed: ObservedWorker | null, idleTimeoutMs: number, nowMs: number): boolean =>
  observed?.idleSinceMs !== undefined && nowMs - observed.idleSinceMs < idleTimeoutMs;
