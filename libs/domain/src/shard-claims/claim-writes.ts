import { CLAIM_WRITE_EVERY_MS } from './bounds.js';
import type { ClaimOutcome, ShardClaim } from './claims-data.js';
import { isOwn, type ClaimsState, type ClaimWrite, type KnownShard } from './claims-state.js';
import { adopt, proveSent, type ClaimChange } from './note-survey.js';
import { acknowledge } from './acknowledgements.js';

export type ClaimWriteKind = 'renew' | 'take' | 'hand-over';

/** The write that carries a decision out; the shard is left alone until its outcome is noted. */
export function beginWrite(
  state: ClaimsState,
  { shard, kind }: { readonly shard: number; readonly kind: ClaimWriteKind },
  nowMs: number,
): ClaimWrite | null {
  const known = state.shards[shard];
  if (known === undefined || known.inFlight !== null) return null;
  const claim = claimFor(state, known, kind);
  if (claim === null) return null;
  known.inFlight = { shard, claim, replaces: known.revision, sentAtMs: nowMs };
  known.lastSentAtMs = nowMs;
  known.lastReplaced = known.revision;
  return known.inFlight;
}

function claimFor(state: ClaimsState, known: KnownShard, kind: ClaimWriteKind): ShardClaim | null {
  if (kind === 'take') return { owner: state.self, term: known.termMax + 1 };
  if (known.claim === null || !isOwn(state, known.claim)) return null;
  return kind === 'renew' ? known.claim : { owner: null, term: known.claim.term };
}

/** A conflict or a missing answer decides nothing: the next survey shows whose claim lies there. */
export function endWrite(
  state: ClaimsState,
  { write, outcome }: { readonly write: ClaimWrite; readonly outcome: ClaimOutcome },
  nowMs: number,
): readonly ClaimChange[] {
  const known = state.shards[write.shard];
  if (known === undefined || known.inFlight !== write) return [];
  known.inFlight = null;
  if (outcome.kind === 'unknown') noteUnknown(known, write);
  if (outcome.kind !== 'written') return [];
  state.acknowledgements = acknowledge(state.acknowledgements, write.sentAtMs, nowMs);
  const found = { value: write.claim, revision: outcome.revision };
  const changes = outcome.revision > known.revision ? adopt(state, { known, found }, nowMs) : [];
  if (isHeldBy(state, known, write)) proveSent(state, known, write.sentAtMs);
  return changes;
}

/** Only what would replace the revision that is known now can still come to be. */
function noteUnknown(known: KnownShard, { claim, replaces, sentAtMs }: ClaimWrite): void {
  if (known.revision === replaces && claim.owner !== null) known.unknownSentAtMs ??= sentAtMs;
}

const isHeldBy = (state: ClaimsState, { claim }: KnownShard, write: ClaimWrite): boolean =>
  write.claim.owner !== null && isOwn(state, claim) && claim?.term === write.claim.term;

export const isPresenceDue = ({ presenceSentAtMs, isPresenceInFlight }: ClaimsState, nowMs: number): boolean =>
  !isPresenceInFlight && nowMs - presenceSentAtMs >= CLAIM_WRITE_EVERY_MS;

/** The router's sign of life leaves. */
export function beginPresence(state: ClaimsState, nowMs: number): void {
  state.presenceSentAtMs = nowMs;
  state.isPresenceInFlight = true;
}

/** Its outcome is there: acknowledged, it shows that the broker takes writes. */
export function endPresence(state: ClaimsState, outcome: ClaimOutcome, nowMs: number): void {
  state.isPresenceInFlight = false;
  if (outcome.kind !== 'written') return;
  state.acknowledgements = acknowledge(state.acknowledgements, state.presenceSentAtMs, nowMs);
}
