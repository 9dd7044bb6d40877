export {
  AgentConnections,
  BrokerGuard,
  admitAgent,
  isTrustedIssuer,
  readAuthRequest,
  refuseAgent,
  type AgentConnection,
  type AuthAnswerOptions,
  type AuthRequest,
} from './agent-auth/index.js';
export {
  AgentGateway,
  AgentQuestions,
  AgentTransport,
  ConfirmedReply,
  CurrentHost,
  HostQuestions,
  PartedReply,
  TransportError,
  connectAgentGateway,
  entryLimit,
  isRetriable,
  publishOneWay,
  toWireError,
  type AgentServerOptions,
} from './agent-transport/index.js';
export { AttachmentRooms, type AttachmentRoomsOptions } from './attachments/attachment-rooms.js';
export { JetStreamAttachments } from './attachments/jetstream-attachments.js';
export { JetStreamBlobs } from './blobs/jetstream-blobs.js';
export { Broker } from './broker/broker.js';
export { BrokerApiError } from './broker/broker-errors.js';
export { unreadableLog } from './broker/unreadable-log.js';
export { watchCertificates } from './certificates/watch-certificates.js';
export { JetStreamChunks } from './chunk-log/jetstream-chunks.js';
export { connectNats, drainConnection, type ConnectionEvent, type NatsCredentials } from './connection.js';
export { newConnectionLog } from './connection-log.js';
export { watchConnection } from './connection-watch.js';
export { LOG_FORMAT } from './endpoint-log/log-batch-codec.js';
export { LOG_ANSWER_MS, NatsLogBroker, type InspectedEntry } from './endpoint-log/nats-log-broker.js';
export { LogRooms, type LogRoom } from './endpoint-log/log-rooms.js';
export { NatsShardClaims } from './endpoint-log/nats-shard-claims.js';
export { HistoryReadWatch } from './job-history/history-read-watch.js';
export { ShardLogSource, type ShardLogPage } from './job-history/shard-log-source.js';
export { encodeNotice, readNotice } from './owner-questions/notice-codec.js';
export { encodeOwnerQuestion, readOwnerQuestion } from './owner-questions/owner-question-codec.js';
export { encodeOwnerReply, readOwnerReply } from './owner-questions/owner-reply-codec.js';
export { OwnerRequests } from './owner-questions/owner-requests.js';
export { openConnection } from './open-connection.js';
export { JetStreamReaderCursors } from './reader-cursors/jetstream-reader-cursors.js';
export { plainCodec, snapshotCodec } from './snapshots/snapshot-codec.js';
export { SnapshotDirectory } from './snapshots/snapshot-directory.js';
export { SnapshotWriter } from './snapshots/snapshot-writer.js';
export {
  CLAIMS_STREAM,
  COPIED_LOGS,
  COPIED_PAYLOADS,
  COPIED_STATE,
  copyLog,
  copyStream,
  jobStreamConfig,
  removeLatePayloads,
  restoreStream,
  type CopiedState,
} from './stream-copies/index.js';
export { ensureTopology } from './topology/ensure-topology.js';
export { topologyLog } from './topology/topology-changes.js';
export { LOG_SHARDS, endpointShard, jobShard, logShard } from './topology/shards.js';
export {
  inspectTopology,
  type StreamReport,
  type StreamState,
  type TopologyReport,
} from './topology/inspect-topology.js';
export { type TopologySize } from './topology/streams.js';
export { readStreamHead } from './broker/stream-head.js';
export { isSubjectToken } from './topology/subject-token.js';
export { TopologyKeeper } from './topology/topology-keeper.js';
