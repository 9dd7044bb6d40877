export { ManualClock, letRun } from './clock/manual-clock.js';
export { SeededRandom } from './clock/seeded-random.js';
export {
  LONG_LIFE_MS,
  SHORT_LIFE_MS,
  blobsConformance,
  chunksConformance,
  freshKey,
  logBrokerConformance,
  readerCursorsConformance,
  shardClaimsConformance,
  type Conforming,
  type ConformingLog,
  type Open,
} from './conformance/index.js';
export { HeldLogBroker } from './log-simulator/held-log-broker.js';
export { ModelLogBroker } from './log-simulator/model-log-broker.js';
export { ModelClaimBucket, ModelShardClaims, type ClaimTroubles } from './log-simulator/model-shard-claims.js';
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
  type CancelledJob,
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
  type BrokenPromise,
  type ClientEntry,
  type Execution,
  type History,
  type StatusRead,
  type WorkerOutput,
} from './checker/check-history.js';
export {
  ClusterFaults,
  SHARED_USER,
  eventually,
  useNatsCluster,
  useNatsServer,
  usePostgres,
  useTempFolders,
  type EventuallyOptions,
  type NatsClusterFixture,
  type NatsFixture,
  type PostgresFixture,
  type UseNatsServerOptions,
} from './servers/index.js';
export {
  ImageRegistry,
  makeSmallImage,
  readSavedImage,
  useContainerEngine,
  type ContainerEngineFixture,
  type RegistryLogin,
  type RegistryRequest,
  type SavedImage,
  type UseContainerEngineOptions,
} from './containers/index.js';
