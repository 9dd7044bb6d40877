export { HeldLogBroker } from './held-log-broker.js';
export { ModelLogBroker } from './model-log-broker.js';
export { ModelClaimBucket, ModelShardClaims } from './model-shard-claims.js';
