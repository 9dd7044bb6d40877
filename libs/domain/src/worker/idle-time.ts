import type { ObservedWorker } from './worker.js';
import type { ContainerSession, WorkerView } from './agent-plan/worker-view.js';

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
 * Until when a worker that was told to leave for want of jobs stays all the same: the decision may be older than its last
 * job. Infinite while it has one; null where nothing keeps it.
 */
export function lingersUntilMs({ desired, session }: WorkerView): number | null {
  const afterMs = desired?.intent === 'drained' ? desired.leavesAfterIdleMs : undefined;
  if (afterMs === undefined || session === null || session.releasedAtMs !== null) return null;
  if (session.runningJobs > 0) return Number.POSITIVE_INFINITY;
  const sinceMs = idleSinceMs(session);
  return sinceMs === null ? null : sinceMs + afterMs;
}

/** True while the control plane knows of a job that ended less than the idle time ago. */
export const isRecentlyUsed = (observed: ObservedWorker | null, idleTimeoutMs: number, nowMs: number): boolean =>
  observed?.idleSinceMs !== undefined && nowMs - observed.idleSinceMs < idleTimeoutMs;
