export { type Brokers, guardAgents, openBrokers } from './open-brokers.js';
export { RouterPeers, type RouterPeersOptions } from './router-peers.js';
