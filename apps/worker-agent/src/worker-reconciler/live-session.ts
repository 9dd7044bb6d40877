import type { WorkerSession } from '@berth/domain';
import type { BridgeWorkerState } from '../bridge/bridge.port.js';
import type { WorkerLife } from './worker-record.js';

/** What this agent has seen of one container's life since it started or adopted it. */
export interface LiveSession {
  readonly containerId: string;
  readonly openedAtMs: number;
  readonly finishedJobs: number;
  readonly killReason: string | null;
  readonly killedAtMs: number | null;
}

export const newSession = (containerId: string, nowMs: number, killReason: string | null = null): LiveSession => ({
  containerId,
  openedAtMs: nowMs,
  finishedJobs: 0,
  killReason,
  killedAtMs: null,
});

const NO_LIFE: Pick<WorkerSession, 'readyAtMs' | 'releasedAtMs' | 'stoppedAtMs'> = {
  readyAtMs: null,
  releasedAtMs: null,
  stoppedAtMs: null,
};

/** The session as the plan sees it: what was seen, what is on disk, and what the bridge knows now. */
export function viewSession(
  session: LiveSession,
  life: WorkerLife | null,
  bridge: BridgeWorkerState | null,
): WorkerSession {
  const { readyAtMs, releasedAtMs, stoppedAtMs } = life ?? NO_LIFE;
  return {
    ...session,
    readyAtMs,
    releasedAtMs,
    stoppedAtMs,
    runningJobs: bridge?.runningJobs ?? 0,
    latestDeadlineAtMs: bridge?.latestDeadlineAtMs ?? null,
    recycleReason: bridge?.wantsRecycle ?? null,
  };
}
