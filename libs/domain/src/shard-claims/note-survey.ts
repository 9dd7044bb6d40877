import { CLAIM_UNMOVED_MS } from './bounds.js';
import type { ClaimSurvey, RouterPresence, ShardClaim, Versioned } from './claims-data.js';
import { isOwn, type ClaimsState, type KnownShard } from './claims-state.js';
import { unmovedMs } from './acknowledgements.js';

export type LossReason =
  | 'taken-by-other' // somebody else's claim lies there
  | 'handed-over' // by this router
  | 'bucket-replaced'; // the bucket holds older things than those acknowledged: it was made anew

/** The change that a survey or an answer has brought to this router's shards. */
export type ClaimChange =
  | { readonly kind: 'taken'; readonly shard: number; readonly term: number }
  | { readonly kind: 'lost'; readonly shard: number; readonly term: number; readonly reason: LossReason };

/** @param sentAtMs when the survey was asked for; what arrives late or out of order is judged by revisions */
export interface SurveyArrival {
  readonly survey: ClaimSurvey;
  readonly sentAtMs: number;
}

export function noteSurvey(state: ClaimsState, arrival: SurveyArrival, nowMs: number): readonly ClaimChange[] {
  if (arrival.sentAtMs >= state.surveyedAtMs) {
    state.surveyedAtMs = arrival.sentAtMs;
    noteRouters(state, arrival.survey.routers, nowMs);
  }
  return state.shards.flatMap((known) => noteShard(state, { known, ...arrival }, nowMs));
}

function noteRouters(state: ClaimsState, routers: ReadonlyMap<string, Versioned<RouterPresence>>, nowMs: number): void {
  for (const incarnation of state.routers.keys()) {
    if (!routers.has(incarnation)) state.routers.delete(incarnation);
  }
  for (const [incarnation, { value, revision }] of routers) {
    const known = state.routers.get(incarnation);
    if (known !== undefined && revision <= known.revision) continue;
    const struckOffAtMs = known?.struckOffAtMs ?? Number.NEGATIVE_INFINITY;
    state.routers.set(incarnation, { presence: value, revision, firstSeenMs: nowMs, struckOffAtMs });
  }
}

interface ShardArrival extends SurveyArrival {
  readonly known: KnownShard;
}

function noteShard(
  state: ClaimsState,
  { known, survey, sentAtMs }: ShardArrival,
  nowMs: number,
): readonly ClaimChange[] {
  const found = survey.claims.get(known.shard) ?? { value: null, revision: 0 };
  if (found.revision >= known.revision) {
    known.olderSinceMs = null;
    if (known.firstSeenMs === Number.NEGATIVE_INFINITY) known.firstSeenMs = nowMs;
    return found.revision > known.revision ? adopt(state, { known, found }, nowMs) : [];
  }
  known.olderSinceMs ??= nowMs;
  const isForGood =
    sentAtMs > known.olderSinceMs && unmovedMs(state.acknowledgements, known.olderSinceMs, nowMs) >= CLAIM_UNMOVED_MS;
  if (!isForGood) return [];
  known.olderSinceMs = null;
  return adopt(state, { known, found, whenLost: 'bucket-replaced' }, nowMs);
}

interface Adoption {
  readonly known: KnownShard;
  readonly found: Versioned<ShardClaim | null>;
  readonly whenLost?: LossReason;
}

/** Makes what was found the thing that is known, and tells what that means for this router. */
export function adopt(state: ClaimsState, { known, found, whenLost }: Adoption, nowMs: number): readonly ClaimChange[] {
  const before = known.claim;
  const sentAtMs = Math.min(known.unknownSentAtMs ?? Infinity, known.inFlight?.sentAtMs ?? Infinity);
  known.claim = found.value;
  known.revision = found.revision;
  known.termMax = Math.max(known.termMax, found.value?.term ?? 0);
  known.firstSeenMs = nowMs;
  known.unknownSentAtMs = null;
  const changes = changesBetween(state, { shard: known.shard, before, after: found.value, whenLost });
  if (changes.length > 0) forgetHold(known);
  // One of the writes whose answer is missing made this revision. The first of them is surely not later than it.
  if (isOwn(state, found.value) && sentAtMs !== Infinity) proveSent(state, known, sentAtMs);
  return changes;
}

export function proveSent(state: ClaimsState, known: KnownShard, sentAtMs: number): void {
  if (sentAtMs > state.disconnectedAtMs) known.provenSentAtMs = Math.max(known.provenSentAtMs, sentAtMs);
}

function forgetHold(known: KnownShard): void {
  known.phase = 'kept';
  known.provenSentAtMs = Number.NEGATIVE_INFINITY;
}

interface ChangeOfClaim {
  readonly shard: number;
  readonly before: ShardClaim | null;
  readonly after: ShardClaim | null;
  readonly whenLost: LossReason | undefined;
}

function changesBetween(state: ClaimsState, { shard, before, after, whenLost }: ChangeOfClaim): readonly ClaimChange[] {
  const had = ownTerm(state, before);
  const has = ownTerm(state, after);
  if (had === has) return [];
  const isHandedOver = after !== null && after.owner === null && after.term === had;
  const reason = whenLost ?? (isHandedOver ? 'handed-over' : 'taken-by-other');
  return [
    ...(had === null ? [] : [{ kind: 'lost', shard, term: had, reason } as const]),
    ...(has === null ? [] : [{ kind: 'taken', shard, term: has } as const]),
  ];
}

const ownTerm = (state: ClaimsState, claim: ShardClaim | null): number | null =>
  claim !== null && isOwn(state, claim) ? claim.term : null;
