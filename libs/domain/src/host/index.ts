export { CLOUDS, type Cloud } from './cloud.js';
export { HOST_LOST_MS, HOST_PLACEABLE_MS, isHostLive, isHostLost, isHostPlaceable } from './host-liveness.js';
export type { Host, HostGpu, HostIntent, Inventory } from './host.js';
