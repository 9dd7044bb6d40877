import { isFrozen, type ContainerSession, type WorkerView } from './worker-view.js';

/** A worker that was up and whose checks fail gets this long to come back by itself. */
const OUT_MAX_MS = 60_000;

/** How long a load-balanced worker may take until its first good check, and again when it says that it initializes. */
export const HEALTH_START_MAX_MS = 8 * 60_000;

/** That a worker that was up serves nobody any more. */
interface Sickness {
  /** The instant from which it is to be replaced. */
  readonly fromMs: number;
  /** For people. */
  readonly reason: string;
}

/** Null of one that serves, has no checks, has not come up yet, or rests: its silence is our own doing then. */
export function findSickness(view: WorkerView): Sickness | null {
  const { session } = view;
  return session === null || isFrozen(view) || (session.heldAtMs ?? null) !== null ? null : sicknessOf(session);
}

function sicknessOf({ health, readyAtMs }: ContainerSession): Sickness | null {
  if (health === undefined || readyAtMs === null) return null;
  const { sinceMs, standing, words } = health;
  switch (standing) {
    case 'unknown':
    case 'in':
      return null;
    case 'initializing':
      return {
        fromMs: sinceMs + HEALTH_START_MAX_MS,
        reason: `the worker has been initializing for too long: ${words}`,
      };
    case 'out':
      return { fromMs: sinceMs + OUT_MAX_MS, reason: `the health checks of the worker fail: ${words}` };
    default:
      return standing satisfies never;
  }
}

/** Its end is no more expected than a crash: it was taken down because it served nobody. */
export function diedSick(session: ContainerSession, nowMs: number): string | null {
  const sickness = session.stoppedAtMs === null ? null : sicknessOf(session);
  return sickness !== null && sickness.fromMs <= nowMs ? sickness.reason : null;
}
