import type { EndpointSpec } from '../endpoint/index.js';
import type { HardwareCatalog } from '../hardware-catalog/index.js';
import type { HostId } from '../ids.js';
import type { Worker } from '../worker/index.js';
import type { PlaceableVolume } from './volume-storage.js';
import type { ComputeRequest } from './worker-resources.js';

/** What one worker needs of a host. */
export interface PlacementRequest extends ComputeRequest {
  /** Kept to when it is not empty; its order is the preference. */
  readonly dataCenterIds: readonly string[];
  /** Where the endpoint's network volumes lie: a worker can mount only those of its own data center. Best first. */
  readonly volumeDataCenterIds: readonly string[];
  /** They themselves, the endpoint's first one first; absent: it has none. */
  readonly volumes?: readonly PlaceableVolume[];
  readonly image: string;
  /** Null for the default. */
  readonly diskGb: number | null;
  /** The endpoint's workers that there are, where the next one had better keep apart from them; absent: it need not. */
  readonly apartFrom?: PlacedSiblings;
}

/** How many workers of an endpoint there are, by where they are and what they have. */
interface PlacedSiblings {
  readonly byHost: ReadonlyMap<HostId, number>;
  readonly byGpuType: ReadonlyMap<string, number>;
}

/** From this `workers.max` on an endpoint's workers are spread over hosts and GPU priorities (wire contract 5.8). */
const SPREAD_FROM_MAX = 5;

interface Wishing extends Pick<PlacementRequest, 'volumeDataCenterIds' | 'volumes'> {
  readonly spec: EndpointSpec;
}

export const placementRequestOf = (
  { spec, volumeDataCenterIds, volumes }: Wishing,
  catalog: HardwareCatalog,
): PlacementRequest => ({
  catalog,
  gpu: spec.gpu,
  cpu: spec.cpu,
  dataCenterIds: spec.dataCenterIds,
  volumeDataCenterIds,
  image: spec.container.image,
  diskGb: spec.container.diskGb,
  ...(volumes === undefined ? {} : { volumes }),
});

/** The request of an endpoint's next worker, beside those that it has. */
export function besideSiblings(
  request: PlacementRequest,
  { workers: { max } }: Pick<EndpointSpec, 'workers'>,
  siblings: readonly Pick<Worker, 'hostId' | 'resources'>[],
): PlacementRequest {
  if (max < SPREAD_FROM_MAX) return request;
  const [byHost, byGpuType] = [new Map<HostId, number>(), new Map<string, number>()];
  for (const { hostId, resources } of siblings) {
    byHost.set(hostId, (byHost.get(hostId) ?? 0) + 1);
    const { gpuTypeId } = resources;
    if (gpuTypeId !== null) byGpuType.set(gpuTypeId, (byGpuType.get(gpuTypeId) ?? 0) + 1);
  }
  return { ...request, apartFrom: { byHost, byGpuType } };
}
