export { type Brokers, guardAgents, openBrokers } from './open-brokers.js';
