export { ManualClock, letRun } from './clock/manual-clock.js';
export { SeededRandom } from './clock/seeded-random.js';
export {
  blobsConformance,
  chunksConformance,
  freshKey,
  logBrokerConformance,
  readerCursorsConformance,
  shardClaimsConformance,
  type Conforming,
  type ConformingLog,
} from './conformance/index.js';
export { HeldLogBroker } from './log-simulator/held-log-broker.js';
export { ModelLogBroker } from './log-simulator/model-log-broker.js';
export { ModelClaimBucket, ModelShardClaims } from './log-simulator/model-shard-claims.js';
export { ModelPayloads } from './payloads/model-payloads.js';
export { ModelReaderCursors } from './payloads/model-reader-cursors.js';
export {
  checkCancel,
  checkKey,
  checkLife,
  checkPurges,
  checkStream,
  checkTold,
  type BrokenOperation,
  type KeyedRequest,
  type PurgedQueue,
  type ShortLivedJob,
  type StreamReading,
  type ToldJob,
} from './checker/check-operations.js';
export { checkCharges, type ChargedJob, type HostFault } from './checker/check-charges.js';
export { excuseReruns, type Standstill } from './checker/excuse-reruns.js';
export {
  checkHistory,
  type ClientEntry,
  type Execution,
  type StatusRead,
  type WorkerOutput,
} from './checker/check-history.js';
export {
  ClusterFaults,
  certifyLoopback,
  SHARED_USER,
  eventually,
  useNatsCluster,
  useNatsServer,
  usePostgres,
  useTempFolders,
  type NatsClusterFixture,
  type NatsFixture,
  type PostgresFixture,
  type UseNatsServerOptions,
} from './servers/index.js';
export {
  WORKERS_NAMESPACE,
  giveAgentAccess,
  ImageRegistry,
  makeSmallImage,
  saveImage,
  useCluster,
  useContainerEngine,
  type ClusterFixture,
  type ContainerEngineFixture,
  type SavedImage,
} from './containers/index.js';
export { ContractChecker, type CheckedExchange } from './contract/contract-checker.js';
export { DocumentSchemas } from './contract/document-schemas.js';
export { withMembersAdded } from './contract/members-added.js';
export { outsideClient } from './contract/outside-client.js';
export { PYTHON_SETUP_MS, pythonWith } from './python/index.js';
