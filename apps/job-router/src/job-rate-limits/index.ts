export { composeJobRateLimits } from './compose-job-rate-limits.js';
export { assertOperationsDeclared } from './declared-operations.js';
export { JobRates } from './job-rates.js';
export { limitJobRates } from './limit-job-rates.js';
export { LimitedAs } from './limited-as.decorator.js';
export { NatsRatePeers } from './nats-rate-peers.js';
