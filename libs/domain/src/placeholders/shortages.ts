import type { EndpointPlan } from '../fleet/index.js';
import type { HardwareCatalog } from '../hardware-catalog/index.js';
import type { AccountId, EndpointId } from '../ids.js';
import { GB_BYTES, WORKER_DISK_GB, placementRequestOf, workerOptions, type Unplaced } from '../placement/index.js';

/** What a node must have for one worker. */
export interface NodeWants {
  readonly vcpus: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly gpuCount: number;
  /** As drivers call them, the best first; any of them will do. Empty: no GPU. */
  readonly gpuTypeIds: readonly string[];
}

/** Workers of one endpoint that are wanted and have no host with room. */
export interface Shortage {
  readonly endpointId: EndpointId;
  readonly accountId: AccountId;
  readonly count: number;
  readonly sinceMs: number;
  readonly wants: NodeWants;
}

/** The least that a worker takes for each GPU: of a host with more it takes more, but a smaller one would do. */
const LEAST_PER_GPU = { vcpus: 1, memoryBytes: GB_BYTES } as const;

/**
 * What new nodes would mend.
 *
 * @param dataCenterId where new nodes would stand: who wants to be elsewhere is not helped by one
 */
export function shortagesIn(
  plans: readonly EndpointPlan[],
  {
    catalog,
    dataCenterId,
    nowMs,
  }: { readonly catalog: HardwareCatalog; readonly dataCenterId: string; readonly nowMs: number },
): readonly Shortage[] {
  return plans.flatMap((plan): readonly Shortage[] => {
    if (plan.kind === 'forget' || plan.unplaced === null || !helps(plan.unplaced.why)) return [];
    const { endpoint, unplaced, waiting } = plan;
    const request = placementRequestOf(endpoint, catalog);
    const places = [request.dataCenterIds, request.volumeDataCenterIds];
    if (!places.every((ids) => ids.length === 0 || ids.includes(dataCenterId))) return [];
    const wants = wantsOf(request);
    if (wants === null) return [];
    const sinceMs = waiting[0] === undefined ? nowMs : Date.parse(waiting[0].since);
    return [{ endpointId: endpoint.id, accountId: endpoint.accountId, count: unplaced.count, sinceMs, wants }];
  });
}

/** A limit of the account, or a selection that leaves nothing, is the same with any number of nodes. */
function helps({ reason }: Unplaced): boolean {
  return reason !== 'account-quota' && reason !== 'no-eligible-type' && reason !== 'network-volume';
}

/** Null: there is no kind of worker to look for. */
function wantsOf(request: ReturnType<typeof placementRequestOf>): NodeWants | null {
  const options = workerOptions(request);
  const [best] = options;
  if (best === undefined) return null;
  const diskBytes = (request.diskGb ?? WORKER_DISK_GB) * GB_BYTES;
  if (best.kind === 'cpu') {
    const { memoryGb } = best;
    const share = { vcpus: best.request.vcpuCount, memoryBytes: memoryGb * GB_BYTES };
    return { ...share, diskBytes, gpuCount: 0, gpuTypeIds: [] };
  }
  const { count } = best;
  return {
    ...{ vcpus: LEAST_PER_GPU.vcpus * count, memoryBytes: LEAST_PER_GPU.memoryBytes * count, diskBytes },
    gpuCount: count,
    gpuTypeIds: [...new Set(options.flatMap((option) => (option.kind === 'gpu' ? [option.typeId] : [])))],
  };
}
