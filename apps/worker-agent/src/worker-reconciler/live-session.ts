import type { ContainerSession, PauseFailure } from '@berth/domain';
import { SteadyInstant, type Clock } from '@berth/lifecycle';
import type { BridgeWorkerState } from '../bridge/index.js';
import type { WorkerLife } from './worker-record.js';

/** What this agent has seen of one container's life since it started or adopted it. */
export interface LiveSession {
  readonly containerId: string;
  readonly openedAt: SteadyInstant;
  readonly isAdopted: boolean;
  readonly finishedJobs: number;
  readonly killReason: string | null;
  readonly killedAtMs: number | null;
  readonly resumedAtMs: number | null;
  readonly pauseFailure: PauseFailure | null;
}

export const newSession = (containerId: string, clock: Clock): LiveSession => ({
  containerId,
  openedAt: new SteadyInstant(clock),
  isAdopted: false,
  finishedJobs: 0,
  killReason: null,
  killedAtMs: null,
  resumedAtMs: null,
  pauseFailure: null,
});

const NO_LIFE: Pick<ContainerSession, 'readyAtMs' | 'releasedAtMs' | 'stoppedAtMs' | 'heldAtMs'> = {
  readyAtMs: null,
  releasedAtMs: null,
  stoppedAtMs: null,
};

const NO_CALLS: Pick<
  BridgeWorkerState,
  'hasCalled' | 'notAskingSinceMs' | 'runningJobs' | 'latestDeadlineAtMs' | 'lastJobEndedAtMs' | 'wantsRecycle'
> = {
  hasCalled: false,
  notAskingSinceMs: null,
  runningJobs: 0,
  latestDeadlineAtMs: null,
  lastJobEndedAtMs: null,
  wantsRecycle: null,
};

/** The session as the plan sees it: what was seen, what is on disk, and what the bridge knows now. */
export function viewSession(
  { openedAt, ...session }: LiveSession,
  life: WorkerLife | null,
  bridge: { readonly address: string; readonly state: BridgeWorkerState | null },
): ContainerSession {
  const { readyAtMs, releasedAtMs, stoppedAtMs, heldAtMs = null } = life ?? NO_LIFE;
  const { hasCalled, notAskingSinceMs, runningJobs, lastJobEndedAtMs, latestDeadlineAtMs, wantsRecycle } =
    bridge.state ?? NO_CALLS;
  return {
    ...session,
    openedAtMs: openedAt.unixMs,
    // One without a record is killed anyway.
    knowsBridge: life === null || life.bridgeAddress === bridge.address,
    hasCalled,
    notAskingSinceMs,
    readyAtMs,
    releasedAtMs,
    stoppedAtMs,
    heldAtMs,
    runningJobs,
    lastJobEndedAtMs,
    latestDeadlineAtMs,
    recycleReason: wantsRecycle,
  };
}
