import type { Inventory } from '../host/index.js';
import type { HostId } from '../ids.js';
import type { WorkerResources } from '../worker/index.js';
import { describeRefusal, unplaced, type Unplaced } from './describe-refusal.js';
import { FILTERS, type Fit } from './filters.js';
import { freeResources, type FreeResources, type HostLoad } from './free-resources.js';
import type { PlacementRequest } from './placement-request.js';
import { compareScores, scoreFit, type PlacementScore } from './score.js';
import { workerOptions, workerResources, type WorkerOption } from './worker-resources.js';

export interface Placed {
  readonly kind: 'placed';
  readonly hostId: HostId;
  /** Null for a CPU worker. */
  readonly gpuTypeId: string | null;
  /** Null for a GPU worker. */
  readonly flavorId: string | null;
  readonly resources: WorkerResources;
  readonly score: PlacementScore;
}

/**
 * The best host for one worker, or why there is none. The order of `hosts` does not matter, and the answer can be
 * repeated: equals are told apart by host id.
 */
export function placeWorker(request: PlacementRequest, hosts: readonly HostLoad[], nowMs: number): Placed | Unplaced {
  const search = searchFor(request, nowMs);
  if (search.options.length === 0) {
    return unplaced('no-eligible-type', 'the selection leaves no type that the catalog has');
  }
  return bestOf(hosts, search) ?? describeRefusal(hosts, (load) => fitsOf(load, search));
}

/** As `placeWorker`, for who asks often and need not hear why there is none: the sentences take longer than the search. */
export function placeFinder(request: PlacementRequest, nowMs: number): (hosts: readonly HostLoad[]) => Placed | null {
  const search = searchFor(request, nowMs);
  return (hosts) => bestOf(hosts, search);
}

function searchFor(request: PlacementRequest, nowMs: number): Search {
  const options = workerOptions(request);
  return { request, options, siblingsByRank: siblingsByRank(request, options), nowMs };
}

function bestOf(hosts: readonly HostLoad[], search: Search): Placed | null {
  let best: Placed | null = null;
  for (const load of hosts) {
    const found = bestOn(load, search);
    if (found !== null && (best === null || compare(found, best) < 0)) best = found;
  }
  return best;
}

interface Search {
  readonly request: PlacementRequest;
  readonly options: readonly WorkerOption[];
  /** Null where the workers need not keep apart. */
  readonly siblingsByRank: ReadonlyMap<number, number> | null;
  readonly nowMs: number;
}

function siblingsByRank(
  { apartFrom }: PlacementRequest,
  options: readonly WorkerOption[],
): ReadonlyMap<number, number> | null {
  if (apartFrom === undefined) return null;
  const counts = new Map<number, number>();
  for (const option of options) {
    const siblings = option.kind === 'gpu' ? (apartFrom.byGpuType.get(option.typeId) ?? 0) : 0;
    counts.set(option.rank, (counts.get(option.rank) ?? 0) + siblings);
  }
  return counts;
}

/**
 * One for each option that comes near; none on a host that has not joined. A card that the host has not comes no nearer than
 * another, so of a host that has none of them one option says it all.
 */
function fitsOf(load: HostLoad, search: Search): readonly Fit[] {
  const { host } = load;
  const { inventory } = host;
  if (inventory === null) return [];
  const place = { host, inventory, free: freeOf(load, inventory) };
  const types = new Set(inventory.gpus.map(({ typeId }) => typeId));
  const near = search.options.filter((option) => option.kind === 'cpu' || types.has(option.typeId));
  return (near.length === 0 ? search.options.slice(0, 1) : near).map((option) => fitOf(place, option, search));
}

const freeOf = ({ free, taken }: HostLoad, inventory: Inventory): FreeResources =>
  free ?? freeResources(inventory, taken);

type Joined = Pick<Fit, 'host' | 'inventory' | 'free'>;

const fitOf = (place: Joined, option: WorkerOption, { nowMs, request }: Search): Fit => ({
  ...{ host: place.host, inventory: place.inventory, free: place.free, request, option, nowMs },
  resources: workerResources(option, request.diskGb, place.inventory),
});

/** The best option that the host can take; of equal ones the first. */
function bestOn(load: HostLoad, search: Search): Placed | null {
  const { host } = load;
  const { inventory } = host;
  if (inventory === null) return null;
  const free = freeOf(load, inventory);
  let best: Placed | null = null;
  for (const option of search.options) {
    // Most hosts of a fleet have not the card, or it is taken: that is seen without looking at the rest.
    if (!hasRoomAtAll(option, free)) continue;
    const fit = fitOf({ host, inventory, free }, option, search);
    if (!FILTERS.every((filter) => filter.passes(fit))) continue;
    const found = toPlaced(fit, search.siblingsByRank?.get(option.rank) ?? 0);
    if (best === null || compareScores(found.score, best.score) < 0) best = found;
  }
  return best;
}

/** True wherever the filters pass; they say why not. */
const hasRoomAtAll = (option: WorkerOption, free: FreeResources): boolean =>
  option.kind === 'gpu' ? (free.gpus.get(option.typeId) ?? 0) >= option.count : free.vcpus >= option.request.vcpuCount;

const toPlaced = (fit: Fit, alikeSiblings: number): Placed => ({
  kind: 'placed',
  hostId: fit.host.id,
  gpuTypeId: fit.resources.gpuTypeId,
  flavorId: fit.option.kind === 'cpu' ? fit.option.request.flavorId : null,
  resources: fit.resources,
  score: scoreFit(fit, alikeSiblings),
});

const compare = (a: Placed, b: Placed): number => compareScores(a.score, b.score) || (a.hostId < b.hostId ? -1 : 1);
