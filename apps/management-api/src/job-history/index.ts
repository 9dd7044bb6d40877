export { composeJobHistory } from './compose-job-history.js';
export { JobHistoryService } from './job-history-service.js';
export { JobHistoryController } from './job-history.controller.js';
export { JobHistoryStore } from './job-history.store.js';
