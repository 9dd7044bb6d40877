/** How long a request may take, in its parts. */
export interface TimeLimits {
  /** From the last byte of the request to the head of the answer. */
  readonly firstByteMs: number;
  /** Between two bytes, of the request or of the answer. */
  readonly idleMs: number;
  /** Of the body of a request as long as nothing is answered, on the whole: no body is more than `idleMs` ahead of it. */
  readonly leastBytesPerSecond: number;
  /** From when a worker took it to its end: the endpoint's own. */
  readonly totalMs: number;
}

/** Where a request with a worker stands. `open`: it has become a WebSocket, which has no end that is due. */
export type ExchangePhase = 'sending' | 'awaiting' | 'answering' | 'open';

export interface ExchangeProgress {
  readonly phase: ExchangePhase;
  /** Monotonic. */
  readonly admittedAtMs: number;
  /** Of the last byte, or of the phase where none came in it. */
  readonly movedAtMs: number;
  /** By when more of the body has to come. Monotonic. */
  readonly bodyDueAtMs: number;
  /** The worker does not take what has come. */
  readonly isHeldUp: boolean;
}

const MS_PER_SECOND = 1_000;

/** Each byte gives the rest of a body the time that it has at the least rate. */
export const bodyDueAfter = (
  dueAtMs: number,
  { bytes, nowMs }: { readonly bytes: number; readonly nowMs: number },
  { idleMs, leastBytesPerSecond }: Pick<TimeLimits, 'idleMs' | 'leastBytesPerSecond'>,
): number => Math.min(nowMs + idleMs, dueAtMs + (bytes / leastBytesPerSecond) * MS_PER_SECOND);

type TimeLimitCode =
  | 'request-timeout' // the caller sends nothing any more, or too slowly
  | 'worker-answer-timeout' // no head of an answer
  | 'worker-idle-timeout' // an answer that stands still
  | 'worker-total-timeout';

export interface DueLimit {
  readonly atMs: number;
  readonly code: TimeLimitCode;
}

/** The limit that is reached first, unless there is progress before. */
export function nextLimit(progress: ExchangeProgress, limits: TimeLimits): DueLimit {
  const own = limitOfPhase(progress, limits);
  const total: DueLimit = { atMs: progress.admittedAtMs + limits.totalMs, code: 'worker-total-timeout' };
  return progress.phase !== 'open' && total.atMs <= own.atMs ? total : own;
}

function limitOfPhase(
  { bodyDueAtMs, isHeldUp, movedAtMs, phase }: ExchangeProgress,
  { firstByteMs, idleMs }: TimeLimits,
): DueLimit {
  switch (phase) {
    case 'sending':
      // Where the worker takes nothing, its caller is not to blame that nothing comes.
      return isHeldUp
        ? { atMs: movedAtMs + idleMs, code: 'worker-idle-timeout' }
        : { atMs: bodyDueAtMs, code: 'request-timeout' };
    case 'awaiting':
      return { atMs: movedAtMs + firstByteMs, code: 'worker-answer-timeout' };
    case 'answering':
    case 'open':
      return { atMs: movedAtMs + idleMs, code: 'worker-idle-timeout' };
  }
}
