import type { WorkerId } from '../ids.js';
import { placementRequestOf } from '../placement/index.js';
import { countWorkers, decideScale, type Demand, type ScaleDecision, type ScaleMemory } from '../scaling/index.js';
import { countStarts, goneReason, type HostedWorker, type ReleaseStarts, type Worker } from '../worker/index.js';
import type { EndpointPlan } from './endpoint-plan.js';
import type { FleetEndpoint } from './fleet.js';
import { withOperation, type FleetOperation } from './fleet-operation.js';
import type { Claim, Given } from './hand-out/hand-out.js';
import { withAhead } from './hand-out/hold-back.js';
import { withBoundVolumes } from './hand-out/volume-binding.js';
import { yieldPlaces, type YieldingPlaces } from './hand-out/yield-places.js';
import { moves, planStaffing, type Room } from './plan-staffing.js';
import { describeWaiting } from './waiting-workers.js';

/** The plan of one endpoint but for what places the others leave it. */
export type PlanDraft = { readonly kind: 'forget'; readonly endpoint: FleetEndpoint } | StaffDraft;

interface StaffDraft extends Claim {
  readonly kind: 'staff';
  readonly decision: ScaleDecision;
  readonly demand: Demand | null;
  readonly operations: readonly FleetOperation[];
  readonly starts: ReleaseStarts;
  /** Older workers whose place is not given up before the image of the latest release is there. */
  readonly held: readonly Worker[];
  readonly yields: YieldingPlaces;
}

export interface KnownOfEndpoint {
  readonly workers: readonly HostedWorker[];
  readonly demand: Demand | null;
  readonly memory: ScaleMemory | null;
}

/** How many workers there shall be, who leaves, and how many are missing. */
export function draftOf(endpoint: FleetEndpoint, { demand, memory, workers }: KnownOfEndpoint, room: Room): PlanDraft {
  const { nowMs, observingSinceMs: sinceMs } = room;
  if (isForgettable(endpoint, workers, nowMs)) return { kind: 'forget', endpoint };
  const { scaling, workers: range } = endpoint.spec;
  const counts = countWorkers(workers, sinceMs, nowMs);
  const strictIds = strictWorkers(demand, workers, room);
  const view = { ...{ scaling, range, demand, memory }, workers: counts, strictWorkers: strictIds.size };
  const decision = decideScale(view, nowMs);
  const staff = { desired: decision.desiredWorkers, workers, strictIds, starts: startsOf(endpoint, workers, room) };
  const { held, mayYield, missing, operations, starts, yielding } = planStaffing(endpoint, staff, room);
  const before = workers.map(({ worker }) => worker);
  return {
    ...{ kind: 'staff', endpoint, decision, demand, operations, before, missing, starts, held },
    yields: { mayYield, yielding },
    staying: operations.reduce(withOperation, before).filter(({ intent }) => intent === 'running'),
    request: placementRequestOf(endpoint, room.catalog),
  };
}

/**
 * The plan, now that places have been handed out.
 *
 * @param given undefined where nothing was missing
 */
export function completed(draft: PlanDraft, given: Given | undefined, room: Room): EndpointPlan {
  if (draft.kind === 'forget') return draft;
  const { before, decision, demand, endpoint, held, request } = draft;
  const { leaving, unplaced } = yieldPlaces(draft, given?.unplaced ?? null, room);
  const starts = unplaced === null ? draft.starts : withAhead(held[0], draft, room);
  const operations = [...draft.operations, ...leaving, ...(given?.creates ?? [])];
  const after = operations.reduce(withOperation, before);
  return {
    ...{ kind: 'staff', endpoint, decision, demand, starts, unplaced },
    operations: [...operations, ...moves(after, withBoundVolumes(request, room), room)],
    waiting: describeWaiting(unplaced, endpoint.lastDecision?.waiting ?? [], room.nowMs),
  };
}

/** Those that are there and are not about to leave. */
function strictWorkers(
  demand: Demand | null,
  workers: readonly HostedWorker[],
  { nowMs, observingSinceMs: sinceMs }: Room,
): ReadonlySet<WorkerId> {
  const named = new Set(demand?.strict?.map(({ workerId }) => workerId));
  const wanted = workers.filter(({ worker }) => named.has(worker.id) && worker.intent !== 'drained');
  return new Set(wanted.filter((each) => goneReason(each, sinceMs, nowMs) === null).map(({ worker }) => worker.id));
}

function startsOf(endpoint: FleetEndpoint, workers: readonly HostedWorker[], room: Room): ReleaseStarts {
  const { nowMs, observingSinceMs: sinceMs } = room;
  const there = workers.filter((each) => goneReason(each, sinceMs, nowMs) === null).map(({ worker }) => worker);
  return countStarts(endpoint.lastDecision?.starts ?? null, { release: endpoint.release, workers: there }, nowMs);
}

const isForgettable = ({ deletedAtMs }: FleetEndpoint, workers: readonly HostedWorker[], nowMs: number): boolean =>
  deletedAtMs !== null && nowMs - deletedAtMs > DELETED_KEPT_MS && workers.length === 0;

/** Routers need the deleted endpoint's word until they have emptied its streams. */
export const DELETED_KEPT_MS = 600_000;
