export { isOutcomeAmong, type OutcomeOf } from './command-outcomes.js';
export { questionMetrics } from './metrics.js';
export { type LocalOwner, NatsOwners } from './nats-owners.js';
export { Owners } from './owners.port.js';
export { isUnavailable, retryUnavailable } from './retry-unavailable.js';
