import { CLAIM_UNMOVED_MS, CLAIM_WRITE_EVERY_MS, HANDOVER_PACE_MS, SURVEY_AGE_MAX_MS } from './bounds.js';
import { isOwn, trustsShard, type ClaimsState, type KnownShard } from './claims-state.js';
import { spreadShards, type Spread } from './fair-share.js';
import { unmovedMs } from './acknowledgements.js';

/** Why a shard may be taken. */
type TakeReason =
  | 'never-claimed'
  | 'handed-over'
  | 'owner-dead' // its process is proven dead
  | 'owner-silent' // its claim stood still while this router's own writes were acknowledged
  | 'left-over'; // free, and those with room for it do not take it

type RestReason =
  | 'write-in-flight'
  | 'tried-lately'
  | 'renewed-lately'
  | 'draining' // its owner finishes what it does for it
  | 'owned-by-other'
  | 'survey-missing' // nothing recent is known
  | 'format-newer' // its logs are newer than this router reads
  | 'share-reached'
  | 'stopping';

/** The step to take for one shard now, and its reason. */
export type ClaimDecision = { readonly shard: number } & (
  | { readonly kind: 'renew'; readonly reason: 'renewal-due' }
  | { readonly kind: 'take'; readonly reason: TakeReason }
  | { readonly kind: 'drain'; readonly reason: 'over-share' | 'stopping' }
  | { readonly kind: 'hand-over'; readonly reason: 'drained' }
  | { readonly kind: 'none'; readonly reason: RestReason }
);

/** The facts that are known beside the bucket. */
export interface ClaimsView {
  /** Incarnations whose process is proven dead: by who started it, or by nobody listening for it, twice, with one broker. */
  readonly dead: ReadonlySet<string>;
  /** The newest format of a shard's logs; 0: any router reads them. */
  readonly formatOf: (shard: number) => number;
  /** The router ends: everything is handed over and nothing taken. */
  readonly isStopping: boolean;
}

/**
 * Decides which step a router should take for each shard. It may be asked at any time and as often as one likes: what
 * has been begun is in the state, and a write that comes too late is refused by its compare-and-set.
 */
export function decideClaims(state: ClaimsState, view: ClaimsView, nowMs: number): readonly ClaimDecision[] {
  const spread = spreadShards(state, view.dead, nowMs);
  const room = { left: view.isStopping ? 0 : spread.share - spread.own - takesInFlight(state) };
  const excess = excessShard(state, { view, spread }, nowMs);
  const inOrder = [...state.shards.slice(spread.start), ...state.shards.slice(0, spread.start)];
  return inOrder.map((known) =>
    isOwn(state, known.claim)
      ? decideOwn({ known, view, isExcess: known === excess }, nowMs)
      : decideOther(state, { known, view, room }, nowMs),
  );
}

const takesInFlight = (state: ClaimsState): number =>
  state.shards.filter(({ claim, inFlight }) => inFlight !== null && !isOwn(state, claim)).length;

interface OwnShard {
  readonly known: KnownShard;
  readonly view: ClaimsView;
  readonly isExcess: boolean;
}

function decideOwn({ known, view, isExcess }: OwnShard, nowMs: number): ClaimDecision {
  const { shard, phase } = known;
  if (phase === 'kept' && view.isStopping) return { shard, kind: 'drain', reason: 'stopping' };
  if (phase === 'kept' && isExcess) return { shard, kind: 'drain', reason: 'over-share' };
  if (known.inFlight !== null) return { shard, kind: 'none', reason: 'write-in-flight' };
  const isDue = nowMs - known.lastSentAtMs >= CLAIM_WRITE_EVERY_MS;
  if (isDue && phase === 'drained') return { shard, kind: 'hand-over', reason: 'drained' };
  if (isDue) return { shard, kind: 'renew', reason: 'renewal-due' };
  return { shard, kind: 'none', reason: phase === 'kept' ? 'renewed-lately' : 'draining' };
}

interface OtherShard {
  readonly known: KnownShard;
  readonly view: ClaimsView;
  /** How many more this router may have; counted down with each take. */
  readonly room: { left: number };
}

function decideOther(state: ClaimsState, { known, view, room }: OtherShard, nowMs: number): ClaimDecision {
  const { shard } = known;
  const rest = (reason: RestReason): ClaimDecision => ({ shard, kind: 'none', reason });
  if (view.isStopping) return rest('stopping');
  if (known.inFlight !== null) return rest('write-in-flight');
  const isTried = known.lastReplaced === known.revision && nowMs - known.lastSentAtMs < CLAIM_WRITE_EVERY_MS;
  if (isTried) return rest('tried-lately');
  if (nowMs - state.surveyedAtMs > SURVEY_AGE_MAX_MS) return rest('survey-missing');
  const reason = freeReason(state, { known, dead: view.dead }, nowMs);
  if (reason === null) return rest('owned-by-other');
  if (view.formatOf(shard) > state.self.reads) return rest('format-newer');
  if (room.left > 0) {
    room.left -= 1;
    return { shard, kind: 'take', reason };
  }
  return isLeftOver(state, known, nowMs) ? { shard, kind: 'take', reason: 'left-over' } : rest('share-reached');
}

interface Candidate {
  readonly known: KnownShard;
  readonly dead: ReadonlySet<string>;
}

function freeReason(state: ClaimsState, { known, dead }: Candidate, nowMs: number): TakeReason | null {
  const { claim, firstSeenMs } = known;
  if (claim === null) return 'never-claimed';
  if (claim.owner === null) return 'handed-over';
  if (dead.has(claim.owner.incarnation)) return 'owner-dead';
  return unmovedMs(state.acknowledgements, firstSeenMs, nowMs) >= CLAIM_UNMOVED_MS ? 'owner-silent' : null;
}

/** A share is fair and a shard without an owner is not: what is not taken in time is for any router that can read it. */
function isLeftOver(state: ClaimsState, { claim, firstSeenMs }: KnownShard, nowMs: number): boolean {
  const freeAfterMs = claim === null || claim.owner === null ? 0 : CLAIM_UNMOVED_MS;
  return unmovedMs(state.acknowledgements, firstSeenMs, nowMs) >= freeAfterMs + CLAIM_UNMOVED_MS;
}

interface Situation {
  readonly view: ClaimsView;
  readonly spread: Spread;
}

/**
 * The one shard that goes to another router for the sake of fairness; null: none goes now. There must be somebody who has room
 * for it and reads it, and what others let go before must have been taken, or shards would pile up without an owner.
 */
function excessShard(state: ClaimsState, { view, spread }: Situation, nowMs: number): KnownShard | null {
  if (spread.own <= spread.share || nowMs - state.lastDrainAtMs < HANDOVER_PACE_MS) return null;
  if (state.shards.some((known) => isMoving(state, known, nowMs))) return null;
  const canGo = (known: KnownShard): boolean =>
    trustsShard(state, known.shard, nowMs) && spread.takers.some(({ reads }) => reads >= view.formatOf(known.shard));
  return state.shards.findLast(canGo) ?? null;
}

/** On its way from one owner to the next, unless it has been so for longer than that takes. */
function isMoving(state: ClaimsState, known: KnownShard, nowMs: number): boolean {
  if (isOwn(state, known.claim)) return known.phase !== 'kept';
  const isFree = known.claim === null || known.claim.owner === null;
  return isFree && !isLeftOver(state, known, nowMs);
}
