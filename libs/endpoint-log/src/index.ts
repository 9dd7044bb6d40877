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
export type {
  ClaimOutcome,
  ClaimSurvey,
  RouterPresence,
  ShardClaim,
  ShardClaims,
  Versioned,
} from './ports/shard-claims.port.js';
