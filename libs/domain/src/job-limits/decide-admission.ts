import type { OperationLimit } from './job-operations.js';
import type { SlidingCount } from './sliding-count.js';

export interface WorkerAllowance {
  /** Up and taking jobs: idle or busy. */
  readonly ready: number;
  /** Requests within 10 s that each of them allows. */
  readonly requestsPerWorker: number;
}

/**
 * The limit of an endpoint with so many workers: the higher of the operation's own and what the workers allow (API
 * decisions 2.17). The limit of requests in flight grows in the same proportion.
 */
export function effectiveLimit(base: OperationLimit, { ready, requestsPerWorker }: WorkerAllowance): OperationLimit {
  const rate = Math.max(base.rate, ready * requestsPerWorker);
  return { rate, concurrent: base.concurrent === null ? null : Math.floor((base.concurrent * rate) / base.rate) };
}

/** The requests that count against the limits of one operation. */
export interface OperationUse {
  readonly window: SlidingCount;
  readonly inFlight: number;
}

export type AdmissionVerdict =
  | { readonly kind: 'admitted' }
  | {
      readonly kind: 'refused';
      readonly by: 'rate' | 'concurrency';
      /** The limit that was reached. */
      readonly limit: number;
      /** When to ask again. By rate: there is room then, unless others take it. By concurrency nobody can know. */
      readonly retryAfterMs: number;
    };

const CONCURRENCY_RETRY_MS = 1_000;
const ADMITTED: AdmissionVerdict = { kind: 'admitted' };

export interface AdmissionRequest {
  /** Requests that are to be admitted: all of them, or none. */
  readonly count: number;
  /** The count with a new try, where that is more. */
  readonly again?: number;
  readonly nowMs: number;
}

/** Whether so many more requests fit. */
export function decideAdmission(
  { window, inFlight }: OperationUse,
  { rate, concurrent }: OperationLimit,
  { count, again = count, nowMs }: AdmissionRequest,
): AdmissionVerdict {
  if (window.sum(nowMs) + count > rate) {
    return { kind: 'refused', by: 'rate', limit: rate, retryAfterMs: window.msUntil(rate - again, nowMs) };
  }
  if (concurrent !== null && inFlight >= concurrent) {
    return { kind: 'refused', by: 'concurrency', limit: concurrent, retryAfterMs: CONCURRENCY_RETRY_MS };
  }
  return ADMITTED;
}
