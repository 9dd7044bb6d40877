export { HostWorkerLogs } from './host-worker-logs.js';
export { type WorkerLogs } from './worker-logs.port.js';
