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
  HostQuestions,
  PartedReply,
  TransportError,
  connectAgentGateway,
  entryLimit,
  isRetriable,
  publishOneWay,
  toWireError,
  type AgentServerOptions,
  type RequestOptions,
  type TellPart,
  type TransportFailure,
} from './agent-transport/index.js';
export { AttachmentRooms, type AttachmentRoomsOptions } from './attachments/attachment-rooms.js';
export { JetStreamAttachments } from './attachments/jetstream-attachments.js';
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
export { LOG_FORMAT } from './endpoint-log/log-batch-codec.js';
export {
  LOG_ANSWER_MS,
  NatsLogBroker,
  type InspectedEntry,
  type NatsLogBrokerOptions,
} from './endpoint-log/nats-log-broker.js';
export { LogRooms, type LogRoom, type LogRoomsOptions } from './endpoint-log/log-rooms.js';
export { NatsShardClaims } from './endpoint-log/nats-shard-claims.js';
export { HistoryReadWatch, type HistoryReadWatchOptions } from './job-history/history-read-watch.js';
export { ShardLogSource, type ShardLogPage, type UnreadableFacts } from './job-history/shard-log-source.js';
export { encodeNotice, readNotice } from './owner-questions/notice-codec.js';
export { encodeOwnerQuestion, readOwnerQuestion, type AskedQuestion } from './owner-questions/owner-question-codec.js';
export { encodeOwnerReply, readOwnerReply } from './owner-questions/owner-reply-codec.js';
export { OwnerRequests, type OwnerOutcome, type OwnerRequest } from './owner-questions/owner-requests.js';
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
export { BUCKET_NAMES, type BucketName } from './topology/buckets.js';
export { ensureTopology, type EnsureTopologyOptions, type StreamChange } from './topology/ensure-topology.js';
export { LOG_SHARDS, endpointShard, jobShard, logShard } from './topology/shards.js';
export { STORAGE_SHARES, streamConfigs, type TopologyPart, type TopologySize } from './topology/streams.js';
export { isSubjectToken } from './topology/subject-token.js';
export { STREAMS } from './topology/subjects.js';
export { TopologyKeeper, type TopologyKeeperOptions } from './topology/topology-keeper.js';
export { TopologyDriftError } from './topology/topology-drift.js';
