export { ReleasesService } from './releases-service.js';
export { ReleasesController } from './releases.controller.js';
export { ReleasesStore } from './releases.store.js';
