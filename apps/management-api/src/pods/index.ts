export { ClusterPodsController } from './cluster-pods.controller.js';
export { PodsService } from './pods-service.js';
export { PodsController } from './pods.controller.js';
export { PodsStore } from './pods.store.js';
