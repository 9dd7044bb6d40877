export { settleAppend } from './commit/settle-append.js';
export { type ClaimDeed, type OwnershipListener } from './claims/ownership-options.js';
export type {
  AppendOutcome,
  LogBatch,
  LogBroker,
  LogEntry,
  LogHead,
  LogIndex,
  StoredBatch,
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
export { type UnreadPurge } from './carrying/carrier.js';
export { batchesOf, readReferences } from './carrying/read-references.js';
export { OpenLog, type LogEnd, type SettledAnswer } from './commit/open-log.js';
export { type IndexDifference } from './inspection/compare-index.js';
export {
  LogCheck,
  type CheckedEntry,
  type CheckedLine,
  type LogFinding,
  type LogWriter,
} from './inspection/log-check.js';
export { type LogSum, type StateSum } from './inspection/log-sum.js';
export { deleteUnread, saysDeleted } from './opening/delete-unread.js';
export { openEndpoint, type Opening } from './opening/open-endpoint.js';
export { readLog } from './opening/read-log.js';
export { LogOwner } from './ownership/log-owner.js';
export { type EndpointEvent, type LogAsker } from './ownership/owned-endpoint.js';
export { RouterLogs } from './ownership/router-logs.js';
