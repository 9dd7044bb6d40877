export { checkCatalogs, unknownGpuType } from './check-catalogs.js';
export { checkVolumePlaces, type VolumePlace } from './check-volume-places.js';
export { ENDPOINT_DEFAULTS, resolveWorkerRange } from './defaults.js';
export { endpointFields } from './endpoint-fields.js';
export {
  FLASHBOOT_MODES,
  type ContainerSpec,
  type Endpoint,
  type EndpointSettings,
  type EndpointSpec,
  type EndpointType,
  type Flashboot,
  type LoadBalancerAccess,
  type Scaling,
  type WorkerRange,
} from './endpoint.js';
export { describeFailures, type FieldFailure } from './field-failure.js';
export { patchEndpoint, type EndpointPatch, type PatchedEndpoint } from './patch-endpoint.js';
export {
  healthCheckPath,
  requestUrls,
  type LoadBalancerUrls,
  type PublicAddresses,
  type QueueUrls,
} from './request-urls.js';
export { splitArgs } from './split-args.js';
export { healthCheckPorts, workerPorts, type WorkerPorts } from './worker-ports.js';
export { workerSlots } from './worker-slots.js';
export { checkEndpointRules, type EndpointDraft } from './validate-endpoint.js';
