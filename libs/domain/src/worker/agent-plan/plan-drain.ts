import { canReport, stoodStill } from './find-cut-off.js';
import { killStep, waitUntil, type WorkerOperation } from './worker-operation.js';
import type { WantedWorker, ContainerSession } from './worker-view.js';

/** Time after SIGTERM of a container that nobody desires any more. */
export const STOP_GRACE_DEFAULT_MS = 30_000;

/** Of one that stands still: it may run on at any moment, but most will not. */
const STANDSTILL_GRACE_MS = 5_000;

/** A running job ends by its own deadline; only this much later is its container killed. */
const DEADLINE_MARGIN_MS = 10_000;

/**
 * The next step of taking a running container down: release its parked polls, SIGTERM, wait for its longest job, kill.
 * The order matters: a job that reaches a worker on a poll parked before SIGTERM is accepted and never run (wire
 * contract 1.11). What is left unfinished is given back when the container has ended.
 *
 * The requests of a load-balanced worker have their time before SIGTERM, on which servers stop at once; those that are
 * left then are cut off with it.
 *
 * @param desired null for a container that nobody desires
 */
export function planDrain(desired: WantedWorker | null, session: ContainerSession, nowMs: number): WorkerOperation {
  if (session.releasedAtMs === null) return { kind: 'release-parked-polls' };
  if (session.stoppedAtMs === null) {
    const stopAtMs = session.releasedAtMs + requestsGraceMs(desired, session);
    return nowMs < stopAtMs ? waitUntil(stopAtMs) : { kind: 'stop' };
  }
  const killAtMs = killsAtMs(session, session.stoppedAtMs, desired?.stopGraceMs ?? STOP_GRACE_DEFAULT_MS);
  return nowMs < killAtMs ? waitUntil(killAtMs) : killStep(session, 'the worker did not leave after SIGTERM', nowMs);
}

/** None where nothing is in flight: nothing comes any more, since the worker's own agent admits it. */
function requestsGraceMs(desired: WantedWorker | null, { health, runningJobs }: ContainerSession): number {
  if (health === undefined || runningJobs === 0) return 0;
  return desired === null ? STOP_GRACE_DEFAULT_MS : (desired.requestGraceMs ?? 0);
}

function killsAtMs(session: ContainerSession, stoppedAtMs: number, graceMs: number): number {
  const { latestDeadlineAtMs } = session;
  const isWaitedFor = latestDeadlineAtMs !== null && canReport(session);
  const ownGraceMs = stoodStill(session) ? Math.min(graceMs, STANDSTILL_GRACE_MS) : graceMs;
  return Math.max(stoppedAtMs + ownGraceMs, isWaitedFor ? latestDeadlineAtMs + DEADLINE_MARGIN_MS : 0);
}
