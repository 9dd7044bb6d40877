export { pulseMetrics } from './metrics.js';
export { type QueueBody, QueueReasons } from './queue-reasons.js';
