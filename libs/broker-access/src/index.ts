export { createAuthority, issueCertificate, type CertificateRequest, type CertifiedKey } from './certificates.js';
export {
  NATS_APP_ACCOUNT,
  renderNatsConf,
  type NatsAuth,
  type NatsConf,
  type NatsListener,
  type NatsPeers,
  type NatsTls,
} from './nats-conf.js';
export {
  createNatsKeys,
  NATS_ROLES,
  publicNatsKeys,
  type NatsKeys,
  type NatsPublicKeys,
  type NatsRole,
} from './nats-keys.js';
export { loadOrCreateNatsKeys } from './nats-key-file.js';
export { rolePermissions, SHARD_COUNTS_DEFAULT, type RolePermissions, type ShardCounts } from './role-permissions.js';
