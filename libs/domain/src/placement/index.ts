export { FAILED_HOSTS_MAX, decideMove, failedHosts } from './decide-move.js';
export type { FilterReason } from './filters.js';
export { freeResources, type FreeResources, type HostLoad } from './free-resources.js';
export {
  placeWorker,
  type HostRejection,
  type Placed,
  type RejectedHost,
  type Unplaced,
  type UnplacedReason,
} from './place-worker.js';
export { placementRequestOf, type PlacementRequest } from './placement-request.js';
export type { PlacementScore } from './score.js';
export {
  GB_BYTES,
  WORKER_RESOURCE_DEFAULTS,
  workerOptions,
  workerResources,
  type ComputeRequest,
  type WorkerOption,
} from './worker-resources.js';
