export { requestsMetrics } from './metrics.js';
export { NatsJobHistory } from './nats-job-history.js';
export { RequestsController } from './requests.controller.js';
export { Requests } from './requests.js';
