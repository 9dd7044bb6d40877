export { ScalingHistoryLoop } from './scaling-history-loop.js';
export { ScalingHistoryService } from './scaling-history-service.js';
export { ScalingHistoryController } from './scaling-history.controller.js';
export { ScalingHistoryStore } from './scaling-history.store.js';
