export { ApiKeysService } from './api-keys-service.js';
export { ApiKeysController } from './api-keys.controller.js';
export { ApiKeysStore } from './api-keys.store.js';
