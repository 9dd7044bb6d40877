export { WorkersService } from './workers-service.js';
export { WorkersController } from './workers.controller.js';
export { WorkersStore, type ScalingDecision } from './workers.store.js';
