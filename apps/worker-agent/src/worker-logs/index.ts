export { HostWorkerLogs } from './host-worker-logs.js';
export { cleanLines, logTailOf } from './log-tail.js';
export { type WorkerLogs } from './worker-logs.port.js';
