export { FAILED_HOSTS_MAX, decideMove, failedHosts } from './decide-move.js';
export { freeResources, type FreeResources, type HostLoad } from './free-resources.js';
export { placeWorker, type Unplaced } from './place-worker.js';
export { placementRequestOf, type PlacementRequest } from './placement-request.js';
export { GB_BYTES, workerResources, type WorkerOption } from './worker-resources.js';
