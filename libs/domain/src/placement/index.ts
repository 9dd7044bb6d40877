export { FAILED_HOSTS_MAX, decideMove, failedHosts } from './decide-move.js';
export { freeResources, type FreeResources, type HostLoad } from './free-resources.js';
export { HostRoom } from './host-room.js';
export { unplaced, type Unplaced } from './describe-refusal.js';
export { placeFinder, placeWorker, type Placed } from './place-worker.js';
export { besideSiblings, placementRequestOf, type PlacementRequest } from './placement-request.js';
export { volumeIn, type PlaceableVolume } from './volume-storage.js';
export { suspectHosts } from './suspect-hosts.js';
export { GB_BYTES, WORKER_DISK_GB, workerOptions, workerResources, type WorkerOption } from './worker-resources.js';
