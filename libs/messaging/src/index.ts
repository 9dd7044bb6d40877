export {
  AGENT_ADMISSION_MS,
  AgentConnections,
  BrokerGuard,
  admitAgent,
  agentPermissions,
  readAuthRequest,
  refuseAgent,
  type AgentConnection,
  type AuthAnswerOptions,
  type AuthRequest,
} from './agent-auth/index.js';
export {
  AgentGateway,
  AgentServer,
  AgentTransport,
  ConfirmedReply,
  CurrentHost,
  CurrentTraceparent,
  TransportError,
  connectAgentGateway,
  isRetriable,
  publishOneWay,
  toWireError,
  type AgentServerOptions,
  type RequestOptions,
  type TransportFailure,
} from './agent-transport/index.js';
export { JetStreamBlobs } from './blobs/jetstream-blobs.js';
export { Broker, type BrokerOptions } from './broker/broker.js';
export { BrokerApiError } from './broker/broker-errors.js';
export { unreadableLog, type UnreadableLogOptions } from './broker/unreadable-log.js';
export { JetStreamChunks } from './chunk-log/jetstream-chunks.js';
export {
  connectNats,
  drainConnection,
  type ConnectNatsOptions,
  type ConnectionEvent,
  type NatsCredentials,
} from './connection.js';
export { watchConnection, type ConnectionChanges } from './connection-watch.js';
export { type PendingDelivery } from './deliveries/delivery-headers.js';
export { DeliveryWatch, type DeliveryWatchOptions } from './deliveries/delivery-watch.js';
export { JetStreamDeliveries } from './deliveries/jetstream-deliveries.js';
export { LOG_FORMAT } from './endpoint-log/log-batch-codec.js';
export { LOG_ANSWER_MS, NatsLogBroker, type NatsLogBrokerOptions } from './endpoint-log/nats-log-broker.js';
export { NatsShardClaims } from './endpoint-log/nats-shard-claims.js';
export {
  JobEventSource,
  type EventBatch,
  type EventPosition,
  type JobEventSourceOptions,
  type SourcedEvent,
  type UnreadableEvent,
} from './job-history/job-event-source.js';
export { surveyRecords, type RecordSurveyOptions } from './job-history/record-survey.js';
export { JetStreamReservations } from './idempotency/jetstream-reservations.js';
export { JetStreamJobRecords } from './job-records/jetstream-job-records.js';
export { RECORD_HEADERS } from './job-records/record-headers.js';
export {
  ADMISSION_FILL_MAX,
  StorageAdmission,
  type Admission,
  type StorageAdmissionOptions,
} from './job-records/storage-admission.js';
export {
  CounterCheckpoints,
  type CounterCheckpoint,
  type CounterCheckpointsOptions,
  type JobCounters,
} from './job-view/counter-checkpoints.js';
export { type JobChanged, type JobEvent, type JobRemoved } from './job-view/job-event.js';
export { JobViewFeed, type JobViewFeedOptions } from './job-view/job-view-feed.js';
export { JetStreamLeases } from './leases/jetstream-leases.js';
export { LeaseWatch, type LeaseWatchOptions, type WatchedLease } from './leases/lease-watch.js';
export { StoreSurvey, type JobAttachment } from './maintenance/store-survey.js';
export { JobNotifications, type JobNews, type JobWatch } from './notifications/job-notifications.js';
export { JetStreamReaderCursors } from './reader-cursors/jetstream-reader-cursors.js';
export { plainCodec, snapshotCodec, type SnapshotCodec } from './snapshots/snapshot-codec.js';
export {
  SnapshotDirectory,
  type SnapshotDirectoryOptions,
  type SnapshotListener,
} from './snapshots/snapshot-directory.js';
export {
  SnapshotWriter,
  type LatestSnapshot,
  type Snapshot,
  type SnapshotWriterOptions,
} from './snapshots/snapshot-writer.js';
export { JetStreamTickets, type WaitingTicket } from './tickets/jetstream-tickets.js';
export { BUCKET_NAMES, type BucketName } from './topology/buckets.js';
export { ensureTopology, type EnsureTopologyOptions, type StreamChange } from './topology/ensure-topology.js';
export { ENDPOINT_SHARDS, JOB_SHARDS, LOG_SHARDS, endpointShard, jobShard, logShard } from './topology/shards.js';
export {
  EVENTS_MAX_AGE_MS,
  LEASE_MARKER_MS,
  LOG_STORAGE_SHARES,
  RECORD_MARKER_MS,
  STORAGE_SHARES,
  streamConfigs,
  type TopologyPart,
  type TopologySize,
} from './topology/streams.js';
export { isSubjectToken } from './topology/subject-token.js';
export { STREAMS } from './topology/subjects.js';
export { TopologyKeeper, type TopologyKeeperOptions } from './topology/topology-keeper.js';
export { TopologyDriftError } from './topology/topology-drift.js';
