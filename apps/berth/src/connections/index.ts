export { closeBroker, openBroker, usingBroker, type BrokerAccess, type BrokerTools } from './broker-connection.js';
export { connectionFailureOf } from './connection-failure-of.js';
export { isRefusedByBroker, wordsOfFailure, type ConnectionFailure } from './connection-failure.js';
export { readSealingKeys, type SealingKeys } from './sealing-keys.js';
