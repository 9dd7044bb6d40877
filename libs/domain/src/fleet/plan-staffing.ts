import type { Host } from '../host/index.js';
import type { HostId, WorkerId } from '../ids.js';
import {
  FAILED_HOSTS_MAX,
  decideMove,
  failedHosts,
  placeWorker,
  placementRequestOf,
  type HostLoad,
  type PlacementRequest,
  type Unplaced,
} from '../placement/index.js';
import { STABLE_WINDOW_DEFAULT_MS } from '../scaling/index.js';
import {
  planEndpoint,
  type EndpointOperation,
  type HostedWorker,
  type Worker,
  type WorkerResources,
} from '../worker/index.js';
import type { FleetEndpoint } from './fleet.js';
import { withOperation, type FleetOperation } from './fleet-operation.js';

/** Where workers can go. What is taken grows as workers are placed. */
export interface Room {
  readonly hosts: ReadonlyMap<HostId, Host>;
  /** By the workers that are there; what is gone takes nothing. */
  readonly taken: Map<HostId, WorkerResources[]>;
  readonly observingSinceMs: number;
  readonly nowMs: number;
  readonly newWorkerId: () => WorkerId;
}

export interface Staffing {
  readonly operations: readonly FleetOperation[];
  /** One for each worker that is wanted and has no place. */
  readonly unplaced: readonly Unplaced[];
}

export interface Staff {
  readonly desired: number;
  readonly workers: readonly HostedWorker[];
}

/** Brings the workers of one endpoint to what is wanted: places new ones, drains, forgets, and moves those that fail. */
export function planStaffing(endpoint: FleetEndpoint, staff: Staff, room: Room): Staffing {
  const before = staff.workers.map(({ worker }) => worker);
  const request = placementRequestOf(endpoint.spec, endpoint.volumeDataCenterIds);
  const operations: FleetOperation[] = [];
  const unplaced: Unplaced[] = [];
  for (const operation of plan(endpoint, staff, room)) {
    // Workers of one release are alike: what was refused once is refused again in the same plan.
    const [hopeless] = operation.kind === 'create-worker' ? unplaced : [];
    const outcome = hopeless ?? toFleetOperation(operation, { endpoint, before, request, room });
    if (outcome.kind === 'unplaced') unplaced.push(outcome);
    else operations.push(outcome);
  }
  const after = operations.reduce(withOperation, before);
  return { operations: [...operations, ...moves(after, request, room)], unplaced };
}

const plan = (endpoint: FleetEndpoint, { desired, workers }: Staff, room: Room): readonly EndpointOperation[] =>
  planEndpoint(
    {
      isDeleted: endpoint.deletedAtMs !== null,
      release: endpoint.release,
      desiredWorkers: desired,
      workersMax: endpoint.spec.workers.max,
      workers,
      observingSinceMs: room.observingSinceMs,
      idleTimeoutMs: idleTimeoutMs(endpoint),
    },
    room.nowMs,
  );

const idleTimeoutMs = ({ spec }: FleetEndpoint): number =>
  spec.workers.idleTimeoutSeconds === null ? STABLE_WINDOW_DEFAULT_MS : spec.workers.idleTimeoutSeconds * 1000;

interface Planning {
  readonly endpoint: FleetEndpoint;
  /** Those that are forgotten in this plan still tell where they failed. */
  readonly before: readonly Worker[];
  readonly request: PlacementRequest;
  readonly room: Room;
}

function toFleetOperation(operation: EndpointOperation, planning: Planning): FleetOperation | Unplaced {
  if (operation.kind === 'create-worker') return placed(operation.release, planning);
  const { before, room } = planning;
  const { hostId } = workerOf(before, operation.workerId);
  switch (operation.kind) {
    case 'drain-worker':
      return { ...operation, hostId, leavesAfterIdleMs: operation.leavesAfterIdleMs ?? null };
    case 'resume-worker':
      return { ...operation, hostId, reason: 'wanted' };
    case 'forget-worker':
      return { ...operation, hostId, hostLastSeenAtMs: room.hosts.get(hostId)?.lastSeenAtMs ?? null };
    default:
      return operation satisfies never;
  }
}

/** Where workers of the release have failed again and again comes last. */
function placed(release: number, { before, endpoint, request, room }: Planning): FleetOperation | Unplaced {
  const loads = loadsOf(room);
  const failedOn = failedHosts(before.filter((worker) => worker.release === release)).slice(0, FAILED_HOSTS_MAX);
  const preferred = loads.filter(({ host }) => !failedOn.includes(host.id));
  const first = placeWorker(request, preferred, room.nowMs);
  const place = first.kind === 'placed' || failedOn.length === 0 ? first : placeWorker(request, loads, room.nowMs);
  if (place.kind === 'unplaced') return place;
  const { hostId, resources } = place;
  room.taken.set(hostId, [...(room.taken.get(hostId) ?? []), resources]);
  const worker: Worker = {
    ...{ id: room.newWorkerId(), endpointId: endpoint.id, hostId, release, resources },
    ...{ intent: 'running', createdAtMs: room.nowMs, observed: null },
    ...(failedOn.length === 0 ? {} : { failedOn }),
  };
  return { kind: 'create-worker', worker, reason: 'wanted' };
}

/**
 * A worker that fails again and again goes where another host can take it; its successor is placed once it is gone, for
 * the maximum counts it until then. Where none can, it is said why it stays.
 */
const moves = (workers: readonly Worker[], request: PlacementRequest, room: Room): readonly FleetOperation[] =>
  workers.flatMap((worker): readonly FleetOperation[] => {
    const siblings = workers.filter(({ release }) => release === worker.release);
    const decision = decideMove({ worker, siblings, request, hosts: loadsOf(room) }, room.nowMs);
    const { hostId, id: workerId } = worker;
    if (decision.kind === 'move') {
      const [reason, detail] = ['failing-host', decision.because] as const;
      return [{ kind: 'drain-worker', workerId, hostId, reason, leavesAfterIdleMs: null, detail }];
    }
    const because = decision.kind === 'stay' ? decision.because : null;
    return because === (worker.staysBecause ?? null) ? [] : [{ kind: 'note-stay', workerId, hostId, because }];
  });

const loadsOf = ({ hosts, taken }: Room): readonly HostLoad[] =>
  Array.from(hosts.values(), (host) => ({ host, taken: taken.get(host.id) ?? [] }));

function workerOf(workers: readonly Worker[], id: WorkerId): Worker {
  const worker = workers.find((each) => each.id === id);
  if (worker === undefined) throw new Error(`the plan names worker ${id}, which it was not given`);
  return worker;
}
