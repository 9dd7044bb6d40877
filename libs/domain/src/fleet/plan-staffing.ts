import type { HardwareCatalog } from '../hardware-catalog/index.js';
import type { Host } from '../host/index.js';
import type { HostId, WorkerId } from '../ids.js';
import { decideMove, type HostRoom, type PlacementRequest } from '../placement/index.js';
import { STABLE_WINDOW_DEFAULT_MS } from '../scaling/index.js';
import {
  isStale,
  planWithPaused,
  type EndpointView,
  type PausingOperation,
  type HostedWorker,
  type ReleaseStarts,
  type Worker,
} from '../worker/index.js';
import type { FleetEndpoint } from './fleet.js';
import { isHeld, withAhead } from './hand-out/hold-back.js';
import type { FleetOperation } from './fleet-operation.js';

/** Where workers can go. What is taken grows as workers are placed. */
export interface Room {
  readonly catalog: HardwareCatalog;
  readonly hosts: ReadonlyMap<HostId, Host>;
  /** What is left of each by the workers that are there; what is gone takes nothing. */
  readonly loads: ReadonlyMap<HostId, HostRoom>;
  /** The same as a list. */
  readonly allLoads: readonly HostRoom[];
  /** Storages that network volumes have come to in this plan, by volume: the next worker of one must see the same files. */
  readonly boundVolumes: Map<string, string>;
  /** Where workers go last: hosts on which those of several endpoints fail. */
  readonly suspects: ReadonlySet<HostId>;
  readonly observingSinceMs: number;
  readonly nowMs: number;
  readonly newWorkerId: () => WorkerId;
}

export interface Staffing {
  /** For the workers that leave, stay after all, or are gone. */
  readonly operations: readonly FleetOperation[];
  /** How many more are wanted of the latest release. */
  readonly missing: number;
  /** How many of these may have the place of an old worker, where there is no room for them beside it. */
  readonly mayYield: number;
  /** Whose place that may be, in the order in which they are asked. */
  readonly yielding: readonly WorkerId[];
  /** Those whose place that would be too, had their hosts the image. */
  readonly held: readonly Worker[];
  /** With what is to be said of an image that is brought ahead. */
  readonly starts: ReleaseStarts;
}

export interface Staff {
  readonly desired: number;
  readonly workers: readonly HostedWorker[];
  readonly starts: ReleaseStarts;
  /** Those of the workers that requests wait for which no other can serve. */
  readonly strictIds: ReadonlySet<WorkerId>;
}

/** Brings the workers of one endpoint to what is wanted, but for those that are missing: they want a place first. */
export function planStaffing(endpoint: FleetEndpoint, staff: Staff, room: Room): Staffing {
  const isHeldBack = (worker: Worker): boolean => isHeld(worker, { endpoint, starts: staff.starts }, room);
  const planned = plan(endpoint, { ...staff, isHeldBack }, room);
  const operations = planned.flatMap((operation) =>
    operation.kind === 'create-worker' ? [] : [toFleetOperation(operation, staff.workers, room)],
  );
  const creations = planned.filter(({ kind }) => kind === 'create-worker');
  const yielding = yieldingIn(planned);
  const stale = staff.workers.filter(({ worker }) => isStale(worker, endpoint.release)).map(({ worker }) => worker);
  // What it would be without: who is named only there waits for an image.
  const unheld = stale.some(isHeldBack) ? plan(endpoint, staff, room) : planned;
  const [first] = [...planned, ...unheld].filter(isMakingRoom).map(({ workerId }) => workerId);
  const without = yieldingIn(unheld).filter((id) => !yielding.includes(id));
  return {
    ...{ operations, missing: creations.length, mayYield: mayYield(unheld), yielding },
    held: without.flatMap((id) => stale.filter((worker) => worker.id === id)),
    starts: withAhead(
      stale.find(({ id }) => id === first),
      { endpoint, starts: staff.starts },
      room,
    ),
  };
}

const mayYield = (planned: readonly PausingOperation[]): number =>
  planned.filter((each) => each.kind === 'create-worker' && each.inPlaceOf !== undefined).length;

const yieldingIn = (planned: readonly PausingOperation[]): readonly WorkerId[] =>
  planned.flatMap((each) => (each.kind === 'create-worker' ? [each.inPlaceOf ?? []] : []))[0] ?? [];

const isMakingRoom = (each: PausingOperation): each is PausingOperation & { readonly kind: 'drain-worker' } =>
  each.kind === 'drain-worker' && each.reason === 'stale-release';

const plan = (
  endpoint: FleetEndpoint,
  { desired, isHeldBack, starts, strictIds, workers }: Staff & Pick<EndpointView, 'isHeldBack'>,
  room: Room,
): readonly PausingOperation[] =>
  planWithPaused(
    {
      isDeleted: endpoint.deletedAtMs !== null,
      flashboot: endpoint.spec.flashboot,
      release: endpoint.release,
      desiredWorkers: desired,
      workersMax: endpoint.spec.workers.max,
      workers,
      observingSinceMs: room.observingSinceMs,
      idleTimeoutMs: idleTimeoutMs(endpoint),
      ...{ starts, strictIds },
      ...(isHeldBack === undefined ? {} : { isHeldBack }),
    },
    room.nowMs,
  );

const idleTimeoutMs = ({ spec }: FleetEndpoint): number =>
  spec.workers.idleTimeoutSeconds === null ? STABLE_WINDOW_DEFAULT_MS : spec.workers.idleTimeoutSeconds * 1000;

type NoCreation = Exclude<PausingOperation, { readonly kind: 'create-worker' }>;

function toFleetOperation(operation: NoCreation, workers: readonly HostedWorker[], { hosts }: Room): FleetOperation {
  const { hostId } = workerOf(workers, operation.workerId);
  switch (operation.kind) {
    case 'drain-worker':
      return { ...operation, hostId, leavesAfterIdleMs: operation.leavesAfterIdleMs ?? null };
    case 'pause-worker':
      return { ...operation, hostId, reason: 'scale-down' };
    case 'resume-worker':
      return { ...operation, hostId, reason: 'wanted' };
    case 'forget-worker':
      return { ...operation, hostId, hostLastSeenAtMs: hosts.get(hostId)?.lastSeenAtMs ?? null };
    default:
      return operation satisfies never;
  }
}

/**
 * A worker that fails again and again goes where another host can take it; its successor is placed once it is gone, for
 * the maximum counts it until then. Where none can, it is said why it stays.
 */
export function moves(workers: readonly Worker[], request: PlacementRequest, room: Room): readonly FleetOperation[] {
  return workers.flatMap((worker): readonly FleetOperation[] => {
    const siblings = workers.filter(({ release }) => release === worker.release);
    const decision = decideMove({ worker, siblings, request, hosts: room.allLoads }, room.nowMs);
    const { hostId, id: workerId } = worker;
    if (decision.kind === 'move') {
      const [reason, detail] = ['failing-host', decision.because] as const;
      return [{ kind: 'drain-worker', workerId, hostId, reason, leavesAfterIdleMs: null, detail }];
    }
    const because = decision.kind === 'stay' ? decision.because : null;
    return because === (worker.staysBecause ?? null) ? [] : [{ kind: 'note-stay', workerId, hostId, because }];
  });
}

function workerOf(workers: readonly HostedWorker[], id: WorkerId): Worker {
  const hosted = workers.find(({ worker }) => worker.id === id);
  if (hosted === undefined) throw new Error(`the plan names worker ${id}, which it was not given`);
  return hosted.worker;
}
