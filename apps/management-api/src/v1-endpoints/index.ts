export { V1EndpointsService } from './v1-endpoints-service.js';
export { V1EndpointsController } from './v1-endpoints.controller.js';
