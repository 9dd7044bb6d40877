export { composeWorkerLogs } from './compose-worker-logs.js';
export { WorkerLogsService } from './worker-logs-service.js';
export { WorkerLogsController } from './worker-logs.controller.js';
