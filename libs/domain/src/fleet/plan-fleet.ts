import type { EndpointId, HostId, WorkerId } from '../ids.js';
import type { Unplaced } from '../placement/index.js';
import { countWorkers, decideScale, type Demand, type ScaleDecision, type ScaleMemory } from '../scaling/index.js';
import { goneReason, type HostedWorker, type WorkerResources } from '../worker/index.js';
import { describeWaiting } from './describe-waiting.js';
import type { Fleet, FleetEndpoint, WaitingWorker } from './fleet.js';
import { observingSinceMs, type FleetMemory } from './fleet-memory.js';
import type { FleetOperation } from './fleet-operation.js';
import { planStaffing, type Room } from './plan-staffing.js';

/** Routers need the deleted endpoint's word until they have emptied its streams. */
export const DELETED_KEPT_MS = 600_000;

/** What is to become of one endpoint's workers. */
export type EndpointPlan =
  /** It was deleted, and nothing is left of it. */
  | { readonly kind: 'forget'; readonly endpoint: FleetEndpoint }
  | {
      readonly kind: 'staff';
      readonly endpoint: FleetEndpoint;
      readonly decision: ScaleDecision;
      /** In their order; each as small as it can be. */
      readonly operations: readonly FleetOperation[];
      readonly waiting: readonly WaitingWorker[];
      /** How many could not be placed, and why, with the filter that each host failed at. */
      readonly unplaced: { readonly count: number; readonly why: Unplaced } | null;
    };

export interface FleetPlan {
  /** Who has waited longest for a place comes first; the others in the order in which they were made. */
  readonly endpoints: readonly EndpointPlan[];
  /** Endpoints that could not be planned for, and why: they keep no other from its plan. */
  readonly failed: ReadonlyMap<EndpointId, unknown>;
  readonly memory: FleetMemory;
}

export interface PlanningMoment {
  readonly nowMs: number;
  /** Names a worker that is to be made, as no other is. */
  readonly newWorkerId: () => WorkerId;
}

export interface FleetView {
  readonly fleet: Fleet;
  /** Null: unknown, which is not the same as none. */
  readonly demandOf: (endpoint: FleetEndpoint) => Demand | null;
  readonly memory: FleetMemory;
}

/**
 * What to do about the whole fleet, with a reason for each step: how many workers each endpoint should have, which leave,
 * which move, and where new ones go. Carried out in part, it is simply followed by another plan.
 */
export function planFleet({ demandOf, fleet, memory }: FleetView, moment: PlanningMoment): FleetPlan {
  const { nowMs } = moment;
  const sinceMs = observingSinceMs(memory, fleet.hosts.values(), nowMs);
  const workers = hostedByEndpoint(fleet);
  const taken = takenByHost([...workers.values()].flat().filter((each) => goneReason(each, sinceMs, nowMs) === null));
  const room: Room = { hosts: fleet.hosts, taken, observingSinceMs: sinceMs, ...moment };
  const scaling = new Map<EndpointId, ScaleMemory>();
  const endpoints: EndpointPlan[] = [];
  const failed = new Map<EndpointId, unknown>();
  for (const endpoint of inTurn(fleet.endpoints)) {
    const { id } = endpoint;
    const remembered = memory.scaling.get(id) ?? null;
    if (remembered !== null) scaling.set(id, remembered);
    try {
      const known = { workers: workers.get(id) ?? [], demand: demandOf(endpoint), memory: remembered };
      const plan = planOne(endpoint, known, room);
      if (plan.kind === 'staff') scaling.set(id, plan.decision.memory);
      endpoints.push(plan);
    } catch (error) {
      failed.set(id, error);
    }
  }
  return { endpoints, failed, memory: { observingSinceMs: sinceMs, lastLookMs: nowMs, scaling } };
}

interface Known {
  readonly workers: readonly HostedWorker[];
  readonly demand: Demand | null;
  readonly memory: ScaleMemory | null;
}

function planOne(endpoint: FleetEndpoint, { demand, memory, workers }: Known, room: Room): EndpointPlan {
  const { nowMs, observingSinceMs: sinceMs } = room;
  if (isForgettable(endpoint, workers, nowMs)) return { kind: 'forget', endpoint };
  const { scaling, workers: range } = endpoint.spec;
  const decision = decideScale(
    { scaling, range, demand, workers: countWorkers(workers, sinceMs, nowMs), memory },
    nowMs,
  );
  const { operations, unplaced } = planStaffing(endpoint, { desired: decision.desiredWorkers, workers }, room);
  const [why] = unplaced;
  return {
    ...{ kind: 'staff', endpoint, decision, operations },
    waiting: describeWaiting(unplaced, endpoint.lastDecision?.waiting ?? [], nowMs),
    unplaced: why === undefined ? null : { count: unplaced.length, why },
  };
}

const isForgettable = ({ deletedAtMs }: FleetEndpoint, workers: readonly HostedWorker[], nowMs: number): boolean =>
  deletedAtMs !== null && nowMs - deletedAtMs > DELETED_KEPT_MS && workers.length === 0;

function hostedByEndpoint({ hosts, workers }: Fleet): ReadonlyMap<EndpointId, readonly HostedWorker[]> {
  const hosted = workers.map((worker) => ({ worker, host: hosts.get(worker.hostId) ?? null }));
  return Map.groupBy(hosted, ({ worker }) => worker.endpointId);
}

function takenByHost(workers: readonly HostedWorker[]): Map<HostId, WorkerResources[]> {
  const byHost = Map.groupBy(workers, ({ worker }) => worker.hostId);
  return new Map([...byHost].map(([hostId, hosted]) => [hostId, hosted.map(({ worker }) => worker.resources)]));
}

const inTurn = (endpoints: readonly FleetEndpoint[]): readonly FleetEndpoint[] =>
  endpoints.toSorted((a, b) => waitingSinceMs(a) - waitingSinceMs(b) || a.createdAtMs - b.createdAtMs);

const waitingSinceMs = ({ lastDecision }: FleetEndpoint): number =>
  Math.min(Number.MAX_SAFE_INTEGER, ...(lastDecision?.waiting ?? []).map(({ since }) => Date.parse(since)));
