export { CLOUDS, type Cloud } from './cloud.js';
export { HOST_LOST_MS, HOST_PLACEABLE_MS, isHostLive, isHostLost, isHostPlaceable } from './host-liveness.js';
export {
  RUNTIME_KINDS,
  type Host,
  type HostGpu,
  type HostIntent,
  type ImageAhead,
  type Inventory,
  type RuntimeKind,
  type VolumeStorage,
} from './host.js';
