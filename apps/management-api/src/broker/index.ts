export { connectBroker, credentialsOf } from './connect-broker.js';
