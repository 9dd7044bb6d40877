import type { ContainerSession, PauseFailure } from '@berth/domain';
import { SteadyInstant, type Clock } from '@berth/lifecycle';
import type { BridgeWorkerState } from '../bridge/index.js';
import type { BalancedWorker, BalancedWorkerState, WorkerListening } from '../load-balanced/index.js';
import type { OwnedContainer } from '../runtimes/index.js';
import type { WorkerLife, WorkerRecord } from './worker-record.js';

/** What this agent has seen of one container's life since it started or adopted it. */
export interface LiveSession {
  readonly containerId: string;
  readonly openedAt: SteadyInstant;
  readonly isAdopted: boolean;
  readonly finishedJobs: number;
  readonly killReason: string | null;
  readonly killedAtMs: number | null;
  readonly killedBecause?: string;
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

interface SeenNow {
  /** Of the bridge. */
  readonly address: string;
  readonly state: BridgeWorkerState | null;
  /** Null of a queue's worker. */
  readonly balanced: BalancedWorkerState | null;
}

/** The session as the plan sees it: what was seen, what is on disk, and what is known now of its jobs or requests. */
export function viewSession(session: LiveSession, life: WorkerLife | null, seen: SeenNow): ContainerSession {
  const view = viewCalls(session, life, seen);
  if (seen.balanced === null) return view;
  const { finishedRequests, health, inFlight, lastRequestEndedAtMs } = seen.balanced;
  return {
    ...view,
    health,
    runningJobs: inFlight,
    finishedJobs: finishedRequests,
    lastJobEndedAtMs: lastRequestEndedAtMs,
  };
}

function viewCalls(
  { openedAt, ...session }: LiveSession,
  life: WorkerLife | null,
  bridge: Omit<SeenNow, 'balanced'>,
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

/** A load-balanced worker with a container, by what is on disk and what the runtime shows. */
export function viewBalanced(
  { identity, life }: WorkerRecord,
  { address, containerId, state }: Pick<OwnedContainer, 'address' | 'containerId' | 'state'>,
  { slots, ...listens }: WorkerListening & { readonly slots: number | null },
): Omit<BalancedWorker, 'isLeaving'> {
  const { endpointId, workerId } = identity;
  return {
    ...listens,
    ...{ workerId, endpointId, containerId, address: address ?? null },
    slots: slots ?? life?.slots ?? 1,
    wasReady: (life?.readyAtMs ?? null) !== null,
    isAwake: state.kind === 'running' && (life?.heldAtMs ?? null) === null,
  };
}
