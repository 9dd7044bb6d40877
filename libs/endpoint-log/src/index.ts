export { settleAppend, type AppendSettlement, type SettleAppendTools } from './commit/settle-append.js';
export {
  ANSWER_WAIT_MAX_MS,
  DRAIN_MAX_MS,
  HAND_OVER_MAX_MS,
  LOOK_EVERY_MS,
  type ClaimDeed,
  type OwnershipListener,
  type ShardOwnershipOptions,
} from './claims/ownership-options.js';
export { ShardOwnership } from './claims/shard-ownership.js';
export type {
  AppendOutcome,
  LogBatch,
  LogBroker,
  LogEntry,
  LogHead,
  LogIndex,
  StoredBatch,
  UnreadableBatch,
} from './ports/log-broker.port.js';
export { type DemandSource } from './ports/demand-source.port.js';
export type {
  ClaimOutcome,
  ClaimSurvey,
  RouterPresence,
  ShardClaim,
  ShardClaims,
  Versioned,
} from './ports/shard-claims.port.js';
export { decodeLines, readLines, type FactLine } from './batch/fact-lines.js';
export { Carrier, type CarrierOptions, type CarryStep, type LogExtent, type UnreadPurge } from './carrying/carrier.js';
export { batchesOf, readReferences, type ReadBatch } from './carrying/read-references.js';
export { OpenLog, type LogEnd, type OpenLogOptions, type Outcome, type Told } from './commit/open-log.js';
export { type IndexDifference } from './inspection/compare-index.js';
export {
  LogCheck,
  type CheckedEntry,
  type CheckedLine,
  type LogFinding,
  type LogWriter,
} from './inspection/log-check.js';
export { type LogSum, type StateSum } from './inspection/log-sum.js';
export { deleteUnread, saysDeleted, type DeleteUnreadTools } from './opening/delete-unread.js';
export { openEndpoint, type Opening } from './opening/open-endpoint.js';
export { readLog, type BrokenLog, type LogReading, type LogSource } from './opening/read-log.js';
export { type JobTotals } from './ownership/demand-ledger.js';
export { LogOwner, type LogOwnerOptions } from './ownership/log-owner.js';
export { type EndpointEvent, type LogAsker } from './ownership/owned-endpoint.js';
export { RouterLogs, type RouterLogsOptions } from './ownership/router-logs.js';
