import type { HardwareCatalog } from '../hardware-catalog/index.js';
import type { AccountId, EndpointId, HostId, WorkerId } from '../ids.js';
import { HostRoom, placeFinder, placementRequestOf, type HostLoad, type Placed } from '../placement/index.js';
import { byLastUse, lastUsedAtMs, type Worker, type WorkerResources } from '../worker/index.js';
import type { Fleet, FleetEndpoint, WaitingWorker } from './fleet.js';
import { withOperation, type FleetOperation } from './fleet-operation.js';
import type { EndpointPlan } from './endpoint-plan.js';
import { refusalKey } from './hand-out/hand-out.js';
import { QuotaRoom } from './hand-out/quota-room.js';

/** So many paused workers leave in one pass at most; the next pass goes on. */
const EVICTIONS_MAX = 100;

/** The best of some hosts for one worker of the plan at hand; null: none of them. */
type Find = (hosts: readonly HostLoad[]) => Placed | null;

interface Wanted {
  readonly find: Find;
  /** The same for all that want the same. */
  readonly key: string;
}

type StaffPlan = EndpointPlan & { readonly kind: 'staff' };

export interface WaitingFleet {
  readonly fleet: Fleet;
  readonly catalog: HardwareCatalog;
  /** Those that are there: what is gone takes nothing. */
  readonly present: readonly Worker[];
  readonly nowMs: number;
}

/**
 * The plans, with paused workers leaving where that makes room for one that is wanted and has no place: on one host, the
 * least recently used that are needed for it, and only those of endpoints with FLASHBOOT. While workers leave a host, what
 * they will free is kept in mind, so that no other leaves for the same place. Where the account's limit stands in the way,
 * the account's own leave, wherever they are, as long as the worker then has a place.
 */
export function withEvictions(plans: readonly EndpointPlan[], view: WaitingFleet): readonly EndpointPlan[] {
  const isShort = plans.some((plan) => plan.kind === 'staff' && plan.unplaced !== null);
  if (!isShort) return plans;
  const places = new PausedPlaces(plans, view);
  const notes = new Map<EndpointId, ReadonlySet<HostId>>();
  for (const plan of plans) {
    if (plan.kind === 'staff' && plan.unplaced !== null) notes.set(plan.endpoint.id, places.makeRoom(plan));
  }
  return plans.map((plan) =>
    plan.kind === 'staff'
      ? noted({ ...plan, operations: [...plan.operations, ...places.evictionsOf(plan.endpoint.id)] }, notes)
      : plan,
  );
}

/** The workers that could leave, for which others, and what is free once those have left that are told to. */
class PausedPlaces {
  readonly #view: WaitingFleet;
  /** By those that stay: whoever leaves, and has no job that keeps it, takes nothing any more. */
  readonly #taken = new Map<HostId, Taken[]>();
  readonly #evictable = new Map<HostId, Worker[]>();
  /** What would be left of each host if all that could leave it did; absent: it has changed, or nobody has asked. */
  readonly #emptied = new Map<HostId, readonly HostRoom[]>();
  /** Hosts that somebody is leaving. */
  readonly #freed = new Set<HostId>();
  /** What was asked for, and has no place even if all left that could. */
  readonly #hopeless = new Set<string>();
  readonly #evictions = new Map<EndpointId, FleetOperation[]>();
  readonly #accounts: ReadonlyMap<EndpointId, AccountId>;
  readonly #quotas: QuotaRoom;
  #left = EVICTIONS_MAX;

  constructor(plans: readonly EndpointPlan[], view: WaitingFleet) {
    this.#view = view;
    this.#accounts = new Map(plans.map(({ endpoint }) => [endpoint.id, endpoint.accountId]));
    this.#quotas = new QuotaRoom(view.fleet.accountLimits);
    const mayLeave = new Set(plans.flatMap((plan) => (isEvictable(plan) ? [plan.endpoint.id] : [])));
    const operations = plans.flatMap((plan) => (plan.kind === 'staff' ? plan.operations : []));
    const before = new Map(view.present.map((worker) => [worker.id, worker]));
    for (const worker of operations.reduce(applied, before).values()) {
      const { endpointId, hostId, intent, observed } = worker;
      if (intent === 'drained' && (observed?.runningJobs ?? 0) === 0) this.#freed.add(hostId);
      else this.#keep(worker);
      if (intent === 'paused' && mayLeave.has(endpointId)) this.#add(this.#evictable, hostId, worker);
    }
    for (const workers of this.#evictable.values()) workers.sort(byLastUse);
  }

  evictionsOf(endpointId: EndpointId): readonly FleetOperation[] {
    return this.#evictions.get(endpointId) ?? [];
  }

  /** Returns the hosts on which room is being made for those of the plan that have no place. */
  makeRoom({ endpoint, unplaced }: StaffPlan): ReadonlySet<HostId> {
    const request = placementRequestOf(endpoint, this.#view.catalog);
    const find = placeFinder(request, this.#view.nowMs);
    if (unplaced?.why.reason === 'account-quota') {
      this.#makeQuota(endpoint, unplaced.count, { find, key: refusalKey(request) });
    }
    const found = new Set<HostId>();
    // What no host stands in the way of, such as an account's limit, no place helps.
    if (unplaced === null || unplaced.why.hosts.length === 0) return found;
    for (let left = unplaced.count; left > 0; left -= 1) {
      const hostId = this.#awaited(find) ?? this.#evictFor(endpoint, find);
      if (hostId === null) break;
      found.add(hostId);
    }
    return found;
  }

  #makeQuota(endpoint: FleetEndpoint, count: number, wanted: Wanted): void {
    const gpuCount = endpoint.spec.gpu?.count ?? 0;
    for (let left = count; left > 0; left -= 1) {
      const victims = this.#quotaVictims(endpoint, gpuCount, wanted);
      if (victims === null || victims.length > this.#left) return;
      for (const victim of victims) this.#evict(victim, endpoint);
      this.#quotas.keep(endpoint.accountId, gpuCount);
      this.#reserve(wanted.find, this.#loadsWithout([]));
    }
  }

  /**
   * Those that have to go for one more worker of an account that is at its limit: of its own the least recently used, since
   * others have their own limits; where that leaves no place, whoever makes one, and of its own those that are still needed.
   */
  #quotaVictims({ accountId, id }: FleetEndpoint, gpuCount: number, { find, key }: Wanted): readonly Worker[] | null {
    const own = [...this.#evictable.values()]
      .flat()
      .filter(({ endpointId }) => endpointId !== id && this.#accounts.get(endpointId) === accountId)
      .toSorted(byLastUse);
    const victims = this.#quotas.victimsFor(accountId, gpuCount, own);
    if (victims === null || victims.length === 0) return victims;
    if (!this.#hasHope(find, key)) return null;
    if (find(this.#loadsWithout(victims)) !== null) return victims;
    const onHost = this.#bestVictims(id, find)?.victims ?? [];
    if (onHost.length === 0) return null;
    const firstThose = own.toSorted((a, b) => Number(onHost.includes(b)) - Number(onHost.includes(a)));
    const needed = this.#quotas.victimsFor(accountId, gpuCount, firstThose);
    return needed && [...new Set([...onHost, ...needed])];
  }

  /** Asked once for what many want. */
  #hasHope(find: Find, key: string): boolean {
    if (this.#hopeless.has(key)) return false;
    const emptied = [...this.#view.fleet.hosts.keys()].flatMap((hostId) => this.#emptiedLoad(hostId));
    if (find(emptied) !== null) return true;
    this.#hopeless.add(key);
    return false;
  }

  #loadsWithout(gone: readonly Worker[]): readonly HostLoad[] {
    return [...this.#view.fleet.hosts.keys()].flatMap((hostId) => this.#load(hostId, this.#without(hostId, gone)));
  }

  #keep({ endpointId, hostId, id: by, resources }: Worker): void {
    this.#add(this.#taken, hostId, { by, resources });
    const accountId = this.#accounts.get(endpointId);
    if (accountId !== undefined) this.#quotas.keep(accountId, resources.gpuCount);
  }

  /** A host that will have room by those who are leaving it already. */
  #awaited(find: Find): HostId | null {
    const loads = [...this.#freed].flatMap((hostId) => this.#load(hostId, this.#taken.get(hostId) ?? []));
    return this.#reserve(find, loads);
  }

  #evictFor(endpoint: FleetEndpoint, find: Find): HostId | null {
    const best = this.#left === 0 ? null : this.#bestVictims(endpoint.id, find);
    if (best === null || best.victims.length > this.#left) return null;
    const { hostId, victims } = best;
    for (const victim of victims) this.#evict(victim, endpoint);
    return this.#reserve(find, this.#load(hostId, this.#taken.get(hostId) ?? []));
  }

  /** Only hosts are looked at closely that have room once all have left that could, those with the oldest use first. */
  #bestVictims(endpointId: EndpointId, find: Find): Victims | null {
    const hosts = [...this.#evictable]
      .flatMap(([hostId, [oldest]]) => (oldest === undefined ? [] : [{ hostId, sinceMs: lastUsedAtMs(oldest) }]))
      .filter(({ hostId }) => find(this.#emptiedLoad(hostId)) !== null)
      .toSorted((a, b) => a.sinceMs - b.sinceMs);
    let best: Victims | null = null;
    for (const { hostId, sinceMs } of hosts) {
      if (
        best !== null &&
        (sinceMs > best.lastUsedAtMs || (sinceMs === best.lastUsedAtMs && best.victims.length === 1))
      )
        break;
      for (const found of this.#victimsOn(hostId, endpointId, find)) {
        if (best === null || compareVictims(found, best) < 0) best = found;
      }
    }
    return best;
  }

  #emptiedLoad(hostId: HostId): readonly HostRoom[] {
    const known = this.#emptied.get(hostId);
    if (known !== undefined) return known;
    const emptied = this.#load(hostId, this.#without(hostId, this.#evictable.get(hostId) ?? []));
    this.#emptied.set(hostId, emptied);
    return emptied;
  }

  /** The least recently used of a host that have to go for the request to fit, without those that need not. */
  #victimsOn(hostId: HostId, endpointId: EndpointId, find: Find): readonly Victims[] {
    const candidates = (this.#evictable.get(hostId) ?? []).filter((worker) => worker.endpointId !== endpointId);
    const fitsWithout = (gone: readonly Worker[]): boolean =>
      find(this.#load(hostId, this.#without(hostId, gone))) !== null;
    const enough = candidates.findIndex((_, index) => fitsWithout(candidates.slice(0, index + 1)));
    if (enough < 0) return [];
    let victims: readonly Worker[] = candidates.slice(0, enough + 1);
    for (const spared of victims.toReversed()) {
      const rest = victims.filter((worker) => worker !== spared);
      if (fitsWithout(rest)) victims = rest;
    }
    return [{ hostId, victims, lastUsedAtMs: Math.max(...victims.map(lastUsedAtMs)) }];
  }

  #evict(victim: Worker, endpoint: FleetEndpoint): void {
    const { endpointId, hostId, id: workerId } = victim;
    this.#taken.set(hostId, this.#without(hostId, [victim]));
    this.#emptied.delete(hostId);
    this.#freed.add(hostId);
    this.#evictable.set(
      hostId,
      (this.#evictable.get(hostId) ?? []).filter((worker) => worker !== victim),
    );
    this.#left -= 1;
    const owner = this.#accounts.get(endpointId);
    if (owner !== undefined) this.#quotas.keep(owner, victim.resources.gpuCount, -1);
    // An account learns nothing of another's endpoints.
    const isOwn = owner === endpoint.accountId;
    const detail = `its place goes to a worker of ${isOwn ? `endpoint ${endpoint.id}` : "another account's endpoint"}`;
    const operation = { kind: 'drain-worker', workerId, hostId, reason: 'evicted', leavesAfterIdleMs: null } as const;
    this.#add(this.#evictions, endpointId, { ...operation, detail });
  }

  /** What the request takes is taken from now on. */
  #reserve(find: Find, loads: readonly HostLoad[]): HostId | null {
    const place = find(loads);
    if (place === null) return null;
    this.#emptied.delete(place.hostId);
    this.#add(this.#taken, place.hostId, { by: null, resources: place.resources });
    return place.hostId;
  }

  #without(hostId: HostId, gone: readonly Worker[]): Taken[] {
    const ids = new Set<string | null>(gone.map(({ id }) => id));
    return (this.#taken.get(hostId) ?? []).filter(({ by }) => !ids.has(by));
  }

  #load(hostId: HostId, taken: readonly Taken[]): readonly HostRoom[] {
    const host = this.#view.fleet.hosts.get(hostId);
    return host === undefined
      ? []
      : [
          new HostRoom(
            host,
            taken.map(({ resources }) => resources),
          ),
        ];
  }

  #add<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
    const list = lists.get(key);
    if (list === undefined) lists.set(key, [value]);
    else list.push(value);
  }
}

/** `by` null: kept for a worker that is wanted. */
interface Taken {
  readonly by: WorkerId | null;
  readonly resources: WorkerResources;
}

interface Victims {
  readonly hostId: HostId;
  readonly victims: readonly Worker[];
  readonly lastUsedAtMs: number;
}

const compareVictims = (a: Victims, b: Victims): number =>
  a.lastUsedAtMs - b.lastUsedAtMs || a.victims.length - b.victims.length;

const isEvictable = ({ endpoint, kind }: EndpointPlan): boolean =>
  kind === 'staff' && endpoint.spec.flashboot === 'FLASHBOOT';

/** As `withOperation`, where all workers of a fleet are there: a list would be gone through for each. */
function applied(workers: Map<Worker['id'], Worker>, operation: FleetOperation): Map<Worker['id'], Worker> {
  if (operation.kind === 'create-worker') return workers.set(operation.worker.id, operation.worker);
  const worker = workers.get(operation.workerId);
  const [after] = worker === undefined ? [] : withOperation([worker], operation);
  if (after === undefined) workers.delete(operation.workerId);
  else workers.set(after.id, after);
  return workers;
}

const MAKES_ROOM = 'workers that leave it make room';

/** Says of each host that has no room yet that it will have. */
function noted(plan: StaffPlan, notes: ReadonlyMap<EndpointId, ReadonlySet<HostId>>): StaffPlan {
  const hosts = notes.get(plan.endpoint.id);
  if (hosts === undefined || hosts.size === 0 || plan.unplaced === null) return plan;
  const { why } = plan.unplaced;
  const said = (id: string, words: string): string => (hosts.has(id as HostId) ? `${words}; ${MAKES_ROOM}` : words);
  const whyHosts = why.hosts.map((host) => ({ ...host, detail: said(host.id, host.detail) }));
  const waiting = plan.waiting.map((each): WaitingWorker => ({
    ...each,
    hosts: each.hosts.map(({ id, reason }) => ({ id, reason: said(id, reason) })),
  }));
  return { ...plan, waiting, unplaced: { ...plan.unplaced, why: { ...why, hosts: whyHosts } } };
}
