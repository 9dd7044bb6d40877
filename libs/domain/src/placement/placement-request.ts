import type { EndpointSpec } from '../endpoint/index.js';
import type { ComputeRequest } from './worker-resources.js';

/** What one worker needs of a host. */
export interface PlacementRequest extends ComputeRequest {
  /** Kept to when it is not empty; its order is the preference. */
  readonly dataCenterIds: readonly string[];
  /** Where the endpoint's network volumes lie: a worker can mount only those of its own data center. */
  readonly volumeDataCenterIds: readonly string[];
  readonly image: string;
  /** Null for the default. */
  readonly diskGb: number | null;
}

/** @param volumeDataCenterIds data center of each of the spec's network volumes */
export const placementRequestOf = (
  spec: EndpointSpec,
  volumeDataCenterIds: readonly string[] = [],
): PlacementRequest => ({
  gpu: spec.gpu,
  cpu: spec.cpu,
  dataCenterIds: spec.dataCenterIds,
  volumeDataCenterIds,
  image: spec.container.image,
  diskGb: spec.container.diskGb,
});
