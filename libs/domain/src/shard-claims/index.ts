export { CLAIM_UNMOVED_MS } from './bounds.js';
export { beginPresence, beginWrite, endPresence, endWrite, type ClaimWriteKind } from './claim-writes.js';
export {
  UNKNOWN_ROUTER,
  type ClaimOutcome,
  type ClaimSurvey,
  type RouterPresence,
  type ShardClaim,
  type Versioned,
} from './claims-data.js';
export {
  beginDrain,
  newClaimsState,
  noteDisconnect,
  noteDrained,
  termOfShard,
  trustsShard,
  type ClaimWrite,
  type ClaimsState,
} from './claims-state.js';
export { decideClaims, type ClaimDecision, type ClaimsView } from './decide-claims.js';
export { beginStrikeOff, decidePresence, type PresenceDecision } from './decide-presence.js';
export { noteSurvey, type ClaimChange, type LossReason } from './note-survey.js';
