export { DeletedVolumesStore } from './deleted-volumes.store.js';
export { NetworkVolumesService } from './network-volumes-service.js';
export { NetworkVolumesController } from './network-volumes.controller.js';
export { NetworkVolumesStore } from './network-volumes.store.js';
