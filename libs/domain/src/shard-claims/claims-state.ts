import { CLAIM_TRUST_MS } from './bounds.js';
import type { RouterPresence, ShardClaim } from './claims-data.js';
import { NO_ACKNOWLEDGEMENTS, type Acknowledgements } from './acknowledgements.js';

/** The phase of an owner's claim. From `drained` on nothing is done for the shard any more. */
type ClaimPhase = 'kept' | 'draining' | 'drained';

/** A write of a shard's claim, as it leaves. */
export interface ClaimWrite {
  readonly shard: number;
  readonly claim: ShardClaim;
  /** The revision that it replaces; 0: there is nothing. */
  readonly replaces: number;
  /** Monotonic, taken before it leaves. */
  readonly sentAtMs: number;
}

/** A shard as this router knows it. All instants are monotonic. */
export interface KnownShard {
  readonly shard: number;
  /** Null: nobody has ever had it. */
  claim: ShardClaim | null;
  /** Of the claim; 0 without one. */
  revision: number;
  /** The highest that was ever seen: terms go on even where the bucket was made anew. */
  termMax: number;
  firstSeenMs: number;
  /** Since when surveys have shown nothing but older things than what is known; null: they do not. */
  olderSinceMs: number | null;
  /** The sending of the last own write that is known to be in the bucket. */
  provenSentAtMs: number;
  /** The sending of the first own write over this revision whose outcome nobody told; null: there is none. */
  unknownSentAtMs: number | null;
  inFlight: ClaimWrite | null;
  lastSentAtMs: number;
  /** The version that the last own write was to replace: over something newer the next one may leave at once. */
  lastReplaced: number;
  phase: ClaimPhase;
}

export interface KnownRouter {
  presence: RouterPresence;
  revision: number;
  firstSeenMs: number;
  struckOffAtMs: number;
}

/** A router's knowledge of all claims. It changes in place. */
export interface ClaimsState {
  readonly self: RouterPresence;
  readonly shards: readonly KnownShard[];
  /** By incarnation. */
  readonly routers: Map<string, KnownRouter>;
  acknowledgements: Acknowledgements;
  /** The sending of the newest survey that arrived. */
  surveyedAtMs: number;
  /** Writes that were sent until this instant prove nothing any more. */
  disconnectedAtMs: number;
  presenceSentAtMs: number;
  isPresenceInFlight: boolean;
  lastDrainAtMs: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

export function newClaimsState(self: RouterPresence, shardCount: number): ClaimsState {
  return {
    self,
    shards: Array.from({ length: shardCount }, (_, shard) => newShard(shard)),
    routers: new Map(),
    acknowledgements: NO_ACKNOWLEDGEMENTS,
    surveyedAtMs: NEVER,
    disconnectedAtMs: NEVER,
    presenceSentAtMs: NEVER,
    isPresenceInFlight: false,
    lastDrainAtMs: NEVER,
  };
}

const newShard = (shard: number): KnownShard => ({
  shard,
  claim: null,
  revision: 0,
  termMax: 0,
  firstSeenMs: NEVER,
  olderSinceMs: null,
  provenSentAtMs: NEVER,
  unknownSentAtMs: null,
  inFlight: null,
  lastSentAtMs: NEVER,
  lastReplaced: -1,
  phase: 'kept',
});

export const isOwn = ({ self }: ClaimsState, claim: ShardClaim | null): boolean =>
  claim?.owner?.incarnation === self.incarnation;

/** Whether the router may decide for a shard at this instant: it owns it, and nobody else can own it yet. */
export function trustsShard(state: ClaimsState, shard: number, nowMs: number): boolean {
  const known = state.shards[shard];
  if (known === undefined || !isOwn(state, known.claim) || known.phase === 'drained') return false;
  return nowMs - known.provenSentAtMs < CLAIM_TRUST_MS;
}

/** The term of a shard that this router owns, trusted or not; null: it does not. */
export function termOfShard(state: ClaimsState, shard: number): number | null {
  const claim = state.shards[shard]?.claim ?? null;
  return claim !== null && isOwn(state, claim) ? claim.term : null;
}

/** Ends all trust, and every count of who is silent: what happened meanwhile was not seen. */
export function noteDisconnect(state: ClaimsState, nowMs: number): void {
  state.disconnectedAtMs = nowMs;
  state.acknowledgements = NO_ACKNOWLEDGEMENTS;
  for (const known of state.shards) known.provenSentAtMs = NEVER;
}

/** The owner begins to finish what it does for the shard, and still renews. */
export function beginDrain(state: ClaimsState, shard: number, nowMs: number): void {
  const known = state.shards[shard];
  if (known === undefined || known.phase !== 'kept') return;
  known.phase = 'draining';
  state.lastDrainAtMs = nowMs;
}

/** Nothing is done for the shard any more, so it may be handed over; its trust ends here. */
export function noteDrained(state: ClaimsState, shard: number): void {
  const known = state.shards[shard];
  if (known?.phase !== 'draining') return;
  known.phase = 'drained';
  // The hand-over need not wait for the pace of renewals.
  known.lastSentAtMs = NEVER;
}
