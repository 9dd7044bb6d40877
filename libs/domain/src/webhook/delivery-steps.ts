import type { Delivery, DeliveryTry } from './delivery.js';

/** In all: the first and two more (specification, "Events"). */
export const TRIES_MAX = 3;
/** From the end of a try to the next (specification, "Events"). */
export const TRY_INTERVAL_MS = 10_000;
/** Routers that look at the same instant would disturb one another, so each wait is up to this much longer. */
const JITTER_MAX_MS = 500;
/** Longest request, from the look-up of the name to the end of the answer. */
export const TRY_TIMEOUT_MS = 10_000;
/** The longest try and the time to write down how it ended. After it the try counts as lost. */
export const CLAIM_MS = 25_000;

/** Said of a try whose sender did not write down how it ended. The receiver may have got it. */
export const LOST_ERROR = 'interrupted: the sender stopped before it could record an answer';

export type ClaimVerdict =
  | { readonly kind: 'claimed'; readonly delivery: Delivery }
  /** The last try was lost: nothing is left to try, and that is to be written down. */
  | { readonly kind: 'used-up'; readonly delivery: Delivery }
  | { readonly kind: 'not-due' };

/** How a try ended. */
export interface TryResult {
  readonly isSuccess: boolean;
  readonly statusCode: number | null;
  readonly error: string | null;
}

/** The earliest instant at which anybody may try; null when it is over. */
export const deliveryDueAtMs = ({ outcome, claim, nextAtMs }: Delivery): number | null =>
  outcome === null ? Math.max(nextAtMs, claim?.untilMs ?? 0) : null;

/** Begins a try. It counts from here on, whatever becomes of its sender. */
export function claimTry(delivery: Delivery, token: string, nowMs: number): ClaimVerdict {
  const dueAtMs = deliveryDueAtMs(delivery);
  if (dueAtMs === null || nowMs < dueAtMs) return { kind: 'not-due' };
  const tries = withLostClosed(delivery);
  if (tries.length >= TRIES_MAX) return { kind: 'used-up', delivery: ended({ ...delivery, tries }, 'failed') };
  const open: DeliveryTry = { atMs: nowMs, durationMs: null, statusCode: null, error: null };
  const claim = { token, untilMs: nowMs + CLAIM_MS };
  return { kind: 'claimed', delivery: { ...delivery, tries: [...tries, open], claim } };
}

/**
 * Ends a try. Null: another has claimed the delivery since, so this word comes too late.
 *
 * @param fraction chance in [0, 1), given by the caller
 */
export function settleTry(
  delivery: Delivery,
  { token, result, fraction }: { readonly token: string; readonly result: TryResult; readonly fraction: number },
  nowMs: number,
): Delivery | null {
  if (delivery.outcome !== null || delivery.claim?.token !== token) return null;
  const tries = withLastTryClosed(delivery.tries, result, nowMs);
  const settled: Delivery = { ...delivery, tries, claim: null };
  if (result.isSuccess) return ended(settled, 'delivered');
  if (tries.length >= TRIES_MAX) return ended(settled, 'failed');
  return { ...settled, nextAtMs: nowMs + TRY_INTERVAL_MS + Math.floor(JITTER_MAX_MS * fraction) };
}

const withLostClosed = ({ tries, claim }: Delivery): readonly DeliveryTry[] =>
  claim === null ? tries : withLastTryClosed(tries, { statusCode: null, error: LOST_ERROR }, claim.untilMs);

export const withLastTryClosed = (
  tries: readonly DeliveryTry[],
  { statusCode, error }: Pick<TryResult, 'statusCode' | 'error'>,
  nowMs: number,
): readonly DeliveryTry[] =>
  tries.map((each) =>
    each.durationMs === null
      ? { ...each, statusCode, error, durationMs: Math.max(0, Math.round(nowMs - each.atMs)) }
      : each,
  );

/** What is kept is the log: the job itself is not needed any more, and it is large. */
const ended = (delivery: Delivery, outcome: 'delivered' | 'failed'): Delivery => ({
  ...delivery,
  claim: null,
  job: null,
  outcome,
});

const LOG_KEPT_MS = 24 * 3_600_000;
const LOG_KEPT_LEAST_MS = 3_600_000;
const FILL_MAX = 0.5;

/**
 * How long the record of a delivery stays. While the store is more than half full, what is over goes after an hour, so
 * that a flood of old logs does not keep out new deliveries.
 *
 * @param fill share of the store's room that is taken, 0 to 1
 */
export const deliveryTtlMs = ({ outcome }: Pick<Delivery, 'outcome'>, fill: number): number =>
  outcome !== null && fill > FILL_MAX ? LOG_KEPT_LEAST_MS : LOG_KEPT_MS;

/**
 * How long after a job's end its delivery may still be made. Below the shortest life of a record, so that none is ever
 * made again.
 */
export const DELIVERY_MADE_WITHIN_MS = LOG_KEPT_LEAST_MS - 5 * 60_000;
