export { ENDPOINT_DEFAULTS, hasIdleTimeout, resolveWorkerRange } from './defaults.js';
export type {
  ContainerSpec,
  Endpoint,
  EndpointSpec,
  EndpointType,
  Flashboot,
  Scaling,
  WorkerRange,
} from './endpoint.js';
export {
  healthCheckPath,
  requestUrls,
  type LoadBalancerUrls,
  type PublicAddresses,
  type QueueUrls,
} from './request-urls.js';
export { splitArgs, type SplitArgs } from './split-args.js';
export {
  checkEndpointReferences,
  checkEndpointRules,
  describeFailures,
  type EndpointDraft,
  type FieldFailure,
} from './validate-endpoint.js';
