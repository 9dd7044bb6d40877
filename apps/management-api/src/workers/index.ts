export { WorkersService } from './workers-service.js';
export { WorkersController } from './workers.controller.js';
export { WorkersStore } from './workers.store.js';
