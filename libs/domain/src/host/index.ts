export { HOST_LOST_MS, HOST_PLACEABLE_MS, isHostLive, isHostLost } from './host-liveness.js';
export type { Host, HostGpu, HostIntent, Inventory } from './host.js';
