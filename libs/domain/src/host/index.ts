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
export {
  hostOfNode,
  isHostOfNode,
  isNodeUid,
  judgeNodeToken,
  subjectOfAccount,
  type ClusterNode,
  type NodeTokenFault,
  type NodeTokenRule,
  type NodeTokenVerdict,
  type TokenReview,
} from './node-token.js';
