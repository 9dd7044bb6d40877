export { loadOrCreateNatsKeys } from './nats-key-file.js';
export {
  completeNatsKeys,
  createNatsKeys,
  publicNatsKeys,
  type NatsKeys,
  type NatsPublicKeys,
  type NatsRole,
} from './nats-keys.js';
export { renderNatsConf, type NatsAuth, type NatsConf, type NatsPeers, type NatsTls } from './nats-conf.js';
export { hasNatsKeys, replaceNatsKeys } from './replace-nats-keys.js';
