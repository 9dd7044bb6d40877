export { ChangeSeal } from './change-seal.js';
export { createDataSource, type DataSourceOptions } from './data-source.js';
export { Database } from './database.js';
export {
  AccountEntity,
  ApiKeyEntity,
  type AuditAction,
  AuditEntryEntity,
  ClusterEntity,
  EndpointEntity,
  EndpointScalingEntity,
  HostEntity,
  JoinTokenEntity,
  NetworkVolumeEntity,
  PodEntity,
  PodVolumeEntity,
  RegistryEntity,
  ReleaseEntity,
  TemplateEntity,
  WebhookSecretEntity,
  WorkerEntity,
} from './entities/index.js';
export { type Env, type EnvOwner, EnvSeal, type StoredContainer, type StoredEndpointSpec } from './env-seal.js';
export { violatesForeignKey } from './foreign-key-violation.js';
export { migrate, waitUntilMigrated } from './migrate.js';
export { openDataSource } from './open-data-source.js';
export { requireAccount } from './require-account.js';
export {
  type ApiKeyRecord,
  apiKeyRow,
  type HostRecord,
  toApiKeyRecord,
  toApiKeySnapshot,
  toEndpoint,
  toHostRecord,
  toWorker,
} from './rows.js';
export { type Transactions } from './transactions.port.js';
