/** How long a request may take, in its parts. */
export interface TimeLimits {
  /** From the last byte of the request to the head of the answer. */
  readonly firstByteMs: number;
  /** Between two bytes, of the request or of the answer. */
  readonly idleMs: number;
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
}

type TimeLimitCode =
  | 'request-timeout' // the caller sends nothing any more
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

function limitOfPhase({ movedAtMs, phase }: ExchangeProgress, { firstByteMs, idleMs }: TimeLimits): DueLimit {
  switch (phase) {
    case 'sending':
      return { atMs: movedAtMs + idleMs, code: 'request-timeout' };
    case 'awaiting':
      return { atMs: movedAtMs + firstByteMs, code: 'worker-answer-timeout' };
    case 'answering':
    case 'open':
      return { atMs: movedAtMs + idleMs, code: 'worker-idle-timeout' };
  }
}
