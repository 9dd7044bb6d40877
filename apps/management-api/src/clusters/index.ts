export { ClustersService } from './clusters-service.js';
export { ClustersController } from './clusters.controller.js';
export { ClustersStore } from './clusters.store.js';
