import type { DeliveryTry } from './delivery.js';

/** In all: the first and two more (API decisions 2.18). */
export const TRIES_MAX = 3;
/** From the end of a try to the next (API decisions 2.18). */
export const TRY_INTERVAL_MS = 10_000;
/** Longest request, from the look-up of the name to the end of the answer. */
export const TRY_TIMEOUT_MS = 10_000;
/** The longest try and the time to write down how it ended. After it the try counts as lost. */
export const CLAIM_MS = 25_000;

/** Said of a try whose sender did not write down how it ended. The receiver may have got it. */
export const LOST_ERROR = 'interrupted: the sender stopped before it could record an answer';

/** How a try ended. */
export interface TryResult {
  readonly isSuccess: boolean;
  readonly statusCode: number | null;
  readonly error: string | null;
}

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
