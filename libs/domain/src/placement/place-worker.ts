import type { HostId } from '../ids.js';
import type { WorkerResources } from '../worker/index.js';
import { FILTERS, type FilterReason, type Fit } from './filters.js';
import { freeResources, type HostLoad } from './free-resources.js';
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

type HostRejection = 'host-not-joined' | FilterReason;

interface RejectedHost {
  readonly id: HostId;
  readonly reason: HostRejection;
  /** A sentence without its full stop. */
  readonly detail: string;
}

type UnplacedReason = HostRejection | 'no-hosts' | 'no-eligible-type';

export interface Unplaced {
  readonly kind: 'unplaced';
  /** What the host that came nearest lacks; or that there is no host, or no kind of worker to look for. */
  readonly reason: UnplacedReason;
  readonly detail: string;
  /** Every host, in the order of their ids. */
  readonly hosts: readonly RejectedHost[];
}

/**
 * The best host for one worker, or why there is none. The order of `hosts` does not matter, and the answer can be
 * repeated: equals are told apart by host id.
 */
export function placeWorker(request: PlacementRequest, hosts: readonly HostLoad[], nowMs: number): Placed | Unplaced {
  const options = workerOptions(request);
  if (options.length === 0) return unplaced('no-eligible-type', 'the selection leaves no type that the catalog has');
  const candidates = hosts.toSorted((a, b) => compareText(a.host.id, b.host.id));
  const answers = candidates.map((load) => tryHost(load, { request, options, nowMs }));
  // Sorting is stable, so the lowest host id wins among equals.
  const [best] = answers.flatMap((answer) => answer.placed).toSorted((a, b) => compareScores(a.score, b.score));
  if (best !== undefined) return best;
  const rejections = answers.flatMap((answer) => answer.rejections).toSorted((a, b) => b.nearness - a.nearness);
  const [nearest] = rejections;
  if (nearest === undefined) return unplaced('no-hosts', 'there is no host');
  const looked = candidates.length === 1 ? 'one host was' : `${candidates.length} hosts were`;
  const detail = `${looked} looked at; ${nearest.host.id} came nearest: ${nearest.host.detail}`;
  return unplaced(
    nearest.host.reason,
    detail,
    answers.flatMap((answer) => answer.rejections.map(({ host }) => host)),
  );
}

interface Rejection {
  readonly host: RejectedHost;
  /** How many filters were passed. */
  readonly nearness: number;
}

/** Exactly one of the two lists has its one element. */
interface HostAnswer {
  readonly placed: readonly Placed[];
  readonly rejections: readonly Rejection[];
}

interface Search {
  readonly request: PlacementRequest;
  readonly options: readonly WorkerOption[];
  readonly nowMs: number;
}

/** The best option that the host can take, or what it lacks for the option that came nearest. */
function tryHost({ host, taken }: HostLoad, { request, options, nowMs }: Search): HostAnswer {
  const { inventory } = host;
  if (inventory === null) return { placed: [], rejections: [notJoined(host.id)] };
  const free = freeResources(inventory, taken);
  const checked = options.map((option) => {
    const resources = workerResources(option, request.diskGb, inventory);
    const fit: Fit = { request, option, host, inventory, free, resources, nowMs };
    return { fit, failedAt: FILTERS.findIndex((filter) => !filter.passes(fit)) };
  });
  const fitting = checked.filter(({ failedAt }) => failedAt < 0).map(({ fit }) => toPlaced(fit));
  if (fitting.length > 0) {
    return { placed: fitting.toSorted((a, b) => compareScores(a.score, b.score)).slice(0, 1), rejections: [] };
  }
  const nearest = checked.toSorted((a, b) => b.failedAt - a.failedAt).slice(0, 1);
  return { placed: [], rejections: nearest.flatMap(({ fit, failedAt }) => toRejection(fit, failedAt)) };
}

const toPlaced = (fit: Fit): Placed => ({
  kind: 'placed',
  hostId: fit.host.id,
  gpuTypeId: fit.resources.gpuTypeId,
  flavorId: fit.option.kind === 'cpu' ? fit.option.request.flavorId : null,
  resources: fit.resources,
  score: scoreFit(fit),
});

function toRejection(fit: Fit, failedAt: number): readonly Rejection[] {
  const filter = FILTERS[failedAt];
  if (filter === undefined) return [];
  return [{ host: { id: fit.host.id, reason: filter.reason, detail: filter.explain(fit) }, nearness: failedAt }];
}

const notJoined = (id: HostId): Rejection => ({
  host: { id, reason: 'host-not-joined', detail: 'the host has not joined yet' },
  nearness: -1,
});

const unplaced = (reason: UnplacedReason, detail: string, hosts: readonly RejectedHost[] = []): Unplaced => ({
  kind: 'unplaced',
  reason,
  detail,
  hosts,
});

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
