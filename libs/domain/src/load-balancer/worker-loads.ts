/**
 * Why a worker has not taken a request of which no byte has reached it: the words of the way to it. `unreachable` is a
 * connect error, and counts for its ejection.
 */
export type WorkerRefusal = 'full' | 'leaving' | 'unready' | 'unknown-worker' | 'unreachable' | 'no-way' | 'timed-out';

/** What one router has seen of one worker. Instants are monotonic. */
export interface WorkerLoad {
  /** Requests that this router has with it, also those that it is still asked to take. */
  readonly inFlight: number;
  /** It is not asked before; past: it may be. */
  readonly shutUntilMs: number;
  /** It is shut because it was full, so it is not where a request of ours ends. */
  readonly isShutAsFull: boolean;
  /** It was full, and has not been asked since for its next slot, for which a question waits at its agent. */
  readonly mayBeWaitedFor: boolean;
  /** How many of ours it has taken at one time since it was full last. Infinite: it never was. */
  readonly ceiling: number;
  /** The connect errors that count. */
  readonly connectErrorsAtMs: readonly number[];
  readonly ejectedUntilMs: number;
  /** The number of the choice that it was chosen by last; those chosen longest ago come first. */
  readonly lastChoice: number;
}

export const NO_LOAD: WorkerLoad = {
  inFlight: 0,
  shutUntilMs: Number.NEGATIVE_INFINITY,
  isShutAsFull: false,
  mayBeWaitedFor: false,
  ceiling: Number.POSITIVE_INFINITY,
  connectErrorsAtMs: [],
  ejectedUntilMs: Number.NEGATIVE_INFINITY,
  lastChoice: 0,
};

/** Connect errors of one worker within this time that take it out. */
const ERRORS_WITHIN_MS = 10_000;
export const ERRORS_TO_EJECT = 3;
/** How long it is out; the agent's own checks find out more in that time. */
export const EJECTED_MS = 10_000;

/** How long a worker that refused is left alone, unless something changes before. */
const SHUT_MS: Readonly<Record<WorkerRefusal, number>> = {
  full: 100,
  leaving: 2_000,
  unready: 500,
  'unknown-worker': 2_000,
  unreachable: 250,
  'no-way': 500,
  'timed-out': 1_000,
};

/** How many more requests this router may try to give it than it has. */
export function roomOf({ ceiling, inFlight }: WorkerLoad, slotsPerWorker: number): number {
  // One more than it took: how many slots other routers hold by now can only be tried.
  return Math.max(0, Math.min(slotsPerWorker, ceiling + 1) - inFlight);
}

export const isOpenAt = ({ ejectedUntilMs, shutUntilMs }: WorkerLoad, nowMs: number): boolean =>
  nowMs >= shutUntilMs && nowMs >= ejectedUntilMs;

/** Whether a question for its next slot may wait at its agent: one that is open is asked what it has now. */
export const isWorthWaitingFor = (load: WorkerLoad, nowMs: number): boolean =>
  load.isShutAsFull && load.mayBeWaitedFor && nowMs < load.shutUntilMs && nowMs >= load.ejectedUntilMs;

/** A request is about to be given to it. */
export const afterChoice = (load: WorkerLoad, choice: number): WorkerLoad => ({
  ...load,
  inFlight: load.inFlight + 1,
  lastChoice: choice,
});

/** A question for its next slot is about to wait there, and counts as a request until it is answered. */
export const afterWaitBegan = (load: WorkerLoad): WorkerLoad => ({
  ...load,
  inFlight: load.inFlight + 1,
  mayBeWaitedFor: false,
});

/** It has taken the request, so a connection to it was made. */
export const afterAdmission = (load: WorkerLoad): WorkerLoad => ({
  ...load,
  ceiling: Math.max(load.ceiling, load.inFlight),
  mayBeWaitedFor: load.isShutAsFull,
  connectErrorsAtMs: [],
});

/** A request that it had taken is over, so it has room. */
export const afterEnd = (load: WorkerLoad): WorkerLoad => ({
  ...load,
  inFlight: load.inFlight - 1,
  ...(load.isShutAsFull ? { shutUntilMs: Number.NEGATIVE_INFINITY, isShutAsFull: false, mayBeWaitedFor: false } : {}),
});

export interface Refused {
  readonly reason: WorkerRefusal;
  readonly nowMs: number;
  /** From 0 to 1: routers that were refused together do not come again together. */
  readonly spread: number;
}

/**
 * The question for its next slot came to nothing. Where it was full for all that time, it may be asked again at once; where
 * it did not let the question wait at all, it is left alone as long as any that is full.
 */
export function afterWaitEnded(load: WorkerLoad, refused: Refused & { readonly askedAtMs: number }): WorkerLoad {
  if (refused.reason !== 'full') return afterRefusal(load, refused);
  return { ...afterRefusal(load, { ...refused, nowMs: refused.askedAtMs }), mayBeWaitedFor: false };
}

/** No request needs its next slot any more, which says nothing of it. */
export const afterWaitWithdrawn = (load: WorkerLoad): WorkerLoad => ({
  ...load,
  inFlight: load.inFlight - 1,
  mayBeWaitedFor: load.isShutAsFull,
});

/** It has not taken the request, of which no byte has reached it. */
export function afterRefusal(load: WorkerLoad, { nowMs, reason, spread }: Refused): WorkerLoad {
  const inFlight = load.inFlight - 1;
  const shutUntilMs = Math.max(load.shutUntilMs, nowMs + SHUT_MS[reason] * (1 + spread));
  const isFull = reason === 'full';
  const left = { ...load, inFlight, shutUntilMs, isShutAsFull: isFull, mayBeWaitedFor: isFull };
  if (isFull) return { ...left, ceiling: Math.min(inFlight, load.ceiling) };
  return reason === 'unreachable' ? afterConnectError(left, nowMs) : left;
}

function afterConnectError(load: WorkerLoad, nowMs: number): WorkerLoad {
  const errors = [...load.connectErrorsAtMs, nowMs].filter((atMs) => nowMs - atMs < ERRORS_WITHIN_MS);
  if (errors.length < ERRORS_TO_EJECT) return { ...load, connectErrorsAtMs: errors };
  return { ...load, connectErrorsAtMs: [], ejectedUntilMs: nowMs + EJECTED_MS };
}
