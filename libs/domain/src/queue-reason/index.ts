export { NOT_REPORTED, describeOutlook } from './describe-outlook.js';
export type { EndpointOutlook } from './endpoint-outlook.js';
export { explainHeld } from './explain-held.js';
export { CONTROL_SILENT_MS, explainQueue, type QueueExplanation } from './explain-queue.js';
export { QUEUE_REASONS } from './queue-reason.js';
export { tallyWorkers } from './queue-view.js';
