export { type EndpointRequest } from './endpoint-request.js';
export { EndpointsService } from './endpoints-service.js';
export { EndpointsController, PUBLIC_ADDRESSES } from './endpoints.controller.js';
export { EndpointsStore, RELEASES_MAX } from './endpoints.store.js';
