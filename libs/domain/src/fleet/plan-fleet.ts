import type { HardwareCatalog } from '../hardware-catalog/index.js';
import type { EndpointId, HostId, WorkerId } from '../ids.js';
import { HostRoom, suspectHosts } from '../placement/index.js';
import type { Demand, ScaleMemory } from '../scaling/index.js';
import { goneReason, type HostedWorker } from '../worker/index.js';
import { AccountShares } from './hand-out/account-shares.js';
import { completed, draftOf, type PlanDraft } from './plan-draft.js';
import type { EndpointPlan } from './endpoint-plan.js';
import { withEvictions } from './evictions.js';
import type { Fleet, FleetEndpoint } from './fleet.js';
import { observingSinceMs, type FleetMemory } from './fleet-memory.js';
import { handOut } from './hand-out/hand-out.js';
import type { Room } from './plan-staffing.js';
import { waitingSinceMs } from './waiting-workers.js';

export interface FleetPlan {
  /** The endpoint that has waited longest for a place comes first; the others in the order in which they were made. */
  readonly endpoints: readonly EndpointPlan[];
  /** Workers that have a place and are made by the next plan: one plan makes so many and no more. */
  readonly postponed: number;
  /** Endpoints that could not be planned for, and why: they keep no other from its plan. */
  readonly failed: ReadonlyMap<EndpointId, unknown>;
  /** Hosts on which workers of several endpoints fail, and why they are suspect: new workers go there last. */
  readonly suspects: ReadonlyMap<HostId, string>;
  readonly memory: FleetMemory;
}

export interface PlanningMoment {
  readonly nowMs: number;
  /** Names a worker that is to be made, as no other is. */
  readonly newWorkerId: () => WorkerId;
}

export interface FleetView {
  readonly fleet: Fleet;
  readonly catalog: HardwareCatalog;
  /** Null: unknown, which is not the same as none. */
  readonly demandOf: (endpoint: FleetEndpoint) => Demand | null;
  readonly memory: FleetMemory;
}

/**
 * What to do about the whole fleet, with a reason for each step: how many workers each endpoint should have, which leave,
 * which move, and where new ones go. Carried out in part, it is simply followed by another plan.
 *
 * Places are handed out once it is known of every endpoint what it wants (ADR 0056). Workers that fail are looked at last,
 * when it is known what is left for them elsewhere.
 */
export function planFleet({ catalog, demandOf, fleet, memory }: FleetView, moment: PlanningMoment): FleetPlan {
  const { nowMs } = moment;
  const sinceMs = observingSinceMs(memory, fleet.hosts.values(), nowMs);
  const hosted = fleet.workers.map((worker) => ({ worker, host: fleet.hosts.get(worker.hostId) ?? null }));
  const present = hosted.filter((each) => goneReason(each, sinceMs, nowMs) === null);
  const loads = loadsOf(fleet, present);
  const suspects = suspectHosts(fleet.workers);
  const room: Room = {
    ...{ hosts: fleet.hosts, loads, allLoads: [...loads.values()], boundVolumes: new Map(), observingSinceMs: sinceMs },
    ...{ catalog, suspects: new Set(suspects.keys()) },
    ...moment,
  };
  const workers = Map.groupBy(hosted, ({ worker }) => worker.endpointId);
  const drafted = eachOf(inTurn(fleet.endpoints), ({ endpoint }) => {
    const { id } = endpoint;
    const remembered = memory.scaling.get(id) ?? null;
    return draftOf(endpoint, { workers: workers.get(id) ?? [], demand: demandOf(endpoint), memory: remembered }, room);
  });
  const claims = drafted.done.flatMap((draft) => (draft.kind === 'staff' && draft.missing > 0 ? [draft] : []));
  const handed = handOut(claims, sharesOf(fleet, present), room);
  const served = drafted.done.filter(({ endpoint }) => !handed.failed.has(endpoint.id));
  const planned = eachOf(served, (draft) => completed(draft, handed.given.get(draft.endpoint.id), room));
  return {
    endpoints: withEvictions(planned.done, { fleet, catalog, present: present.map(({ worker }) => worker), nowMs }),
    suspects,
    postponed: handed.postponed,
    failed: new Map([...drafted.failed, ...handed.failed, ...planned.failed]),
    memory: { observingSinceMs: sinceMs, lastLookMs: nowMs, scaling: scalingOf(fleet, memory, drafted.done) },
  };
}

interface Seen<T> {
  readonly done: readonly T[];
  readonly failed: ReadonlyMap<EndpointId, unknown>;
}

/** One that cannot be seen to keeps no other from it. */
function eachOf<T extends { readonly endpoint: FleetEndpoint }, U>(items: readonly T[], see: (item: T) => U): Seen<U> {
  const done: U[] = [];
  const failed = new Map<EndpointId, unknown>();
  for (const item of items) {
    try {
      done.push(see(item));
    } catch (error) {
      failed.set(item.endpoint.id, error);
    }
  }
  return { done, failed };
}

function loadsOf({ hosts }: Fleet, present: readonly HostedWorker[]): Room['loads'] {
  const byHost = Map.groupBy(present, ({ worker }) => worker.hostId);
  const takenOn = (host: { readonly id: HostedWorker['worker']['hostId'] }) =>
    (byHost.get(host.id) ?? []).map(({ worker }) => worker.resources);
  return new Map([...hosts].map(([id, host]) => [id, new HostRoom(host, takenOn(host))]));
}

function sharesOf({ accountLimits, endpoints, hosts }: Fleet, present: readonly HostedWorker[]): AccountShares {
  const shares = new AccountShares(hosts.values(), accountLimits);
  const accounts = new Map(endpoints.map(({ accountId, id }) => [id, accountId]));
  for (const { worker } of present) {
    const accountId = accounts.get(worker.endpointId);
    if (accountId !== undefined) shares.take(accountId, worker.resources);
  }
  return shares;
}

/** Of the endpoints that were looked at; where the look failed, as it was. */
function scalingOf(
  { endpoints }: Fleet,
  { scaling }: FleetMemory,
  drafts: readonly PlanDraft[],
): ReadonlyMap<EndpointId, ScaleMemory> {
  const kept = new Map<EndpointId, ScaleMemory>();
  for (const { id } of endpoints) {
    const remembered = scaling.get(id);
    if (remembered !== undefined) kept.set(id, remembered);
  }
  for (const draft of drafts) if (draft.kind === 'staff') kept.set(draft.endpoint.id, draft.decision.memory);
  return kept;
}

const inTurn = (endpoints: readonly FleetEndpoint[]): readonly { readonly endpoint: FleetEndpoint }[] =>
  endpoints
    .map((endpoint) => ({ endpoint, sinceMs: waitingSinceMs(endpoint) }))
    .toSorted((a, b) => a.sinceMs - b.sinceMs || a.endpoint.createdAtMs - b.endpoint.createdAtMs);
