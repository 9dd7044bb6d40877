export { ManualClock, letRun } from './clock/manual-clock.js';
export { SeededRandom } from './clock/seeded-random.js';
export {
  LONG_LIFE_MS,
  SHORT_LIFE_MS,
  blobsConformance,
  chunksConformance,
  deliveriesConformance,
  freshKey,
  jobRecordsConformance,
  leasesConformance,
  logBrokerConformance,
  readerCursorsConformance,
  reservationsConformance,
  runningJob,
  sampleJob,
  shardClaimsConformance,
  ticketsConformance,
  type Conforming,
  type ConformingLog,
  type Open,
} from './conformance/index.js';
export { ModelLogBroker } from './log-simulator/model-log-broker.js';
export { ModelClaimBucket, ModelShardClaims, type ClaimTroubles } from './log-simulator/model-shard-claims.js';
export { BrokerModel, type RecordVersion } from './simulator/broker-model.js';
export { checkSimulation, type Violation } from './simulator/check-simulation.js';
export { modelReaderCursors, modelStore, openGate, type Gate } from './simulator/model-store.js';
export { REAL_OPERATIONS, type Operations } from './simulator/operations.js';
export { simulate, type SimulationLog, type SimulationOptions } from './simulator/simulate.js';
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
