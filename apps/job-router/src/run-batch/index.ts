export { batchMetrics } from './metrics.js';
export { RunBatchController } from './run-batch.controller.js';
export { RunBatch } from './run-batch.js';
