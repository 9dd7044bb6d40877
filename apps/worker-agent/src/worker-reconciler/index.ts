export { type HostWorkers } from './host-workers.port.js';
export { workerMetrics } from './metrics.js';
export { noteRemoved } from './note-removed.js';
export { WorkerReconciler } from './worker-reconciler.js';
export { type WorkerTools } from './worker-tools.js';
