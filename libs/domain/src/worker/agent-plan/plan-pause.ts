import { lingersUntilMs } from '../idle-time.js';
import { isSessionReady } from './worker-condition.js';
import type { WorkerOperation } from './worker-operation.js';
import { isFrozen, type ContainerSession, type WorkerView } from './worker-view.js';

/** A host that cannot freeze a container now hardly can a moment later; meanwhile the worker takes jobs. */
const PAUSE_RETRY_MS = 60_000;

/**
 * The next step towards a frozen container, or back from one; null where it is as it shall be. The order matters: a poll
 * that is parked when the container is frozen would be answered with a job that nobody reads. So polls are held first,
 * and whether a job was given out before that shows afterwards.
 */
export function planPause(view: WorkerView, session: ContainerSession, nowMs: number): WorkerOperation | null {
  const isHeld = (session.heldAtMs ?? null) !== null;
  const isPaused = isFrozen(view);
  if (!staysPaused(view, session, nowMs)) return isPaused || isHeld ? { kind: 'resume' } : null;
  if (!isHeld) return { kind: 'hold-polls' };
  return isPaused ? null : { kind: 'pause' };
}

/** One that is frozen stays so whatever the idle time: an agent that has restarted does not know when its last job ended. */
function staysPaused(view: WorkerView, session: ContainerSession, nowMs: number): boolean {
  if (view.desired?.intent !== 'paused' || session.runningJobs > 0) return false;
  return isFrozen(view) || nowMs >= (pausesAtMs(view, session) ?? Number.POSITIVE_INFINITY);
}

/**
 * When a running worker that is to be paused has been idle for long enough. Infinite while it has a job; null of one that
 * is not to be paused, or has not come up yet.
 */
export function pausesAtMs(view: WorkerView, session: ContainerSession): number | null {
  if (view.desired?.intent !== 'paused' || !isSessionReady(session)) return null;
  if (session.runningJobs > 0) return Number.POSITIVE_INFINITY;
  const retriesAtMs = (session.pauseFailure?.atMs ?? Number.NEGATIVE_INFINITY) + PAUSE_RETRY_MS;
  return Math.max(lingersUntilMs(view) ?? 0, retriesAtMs);
}
