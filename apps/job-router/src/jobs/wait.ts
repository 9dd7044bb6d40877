import { PlatformError, WAIT_MAX_MS, WAIT_MIN_MS } from '@berth/domain';
import { WAIT_OVER } from '@berth/lifecycle';
import type { FastifyReply } from 'fastify';

/** How long a caller is held at most. */
export interface Wait {
  readonly ms: number;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
}

/**
 * The `wait` of a request.
 *
 * @param text the query parameter as it came; absent or empty means `defaultMs`
 * @throws PlatformError `invalid-query` naming the bounds
 */
export const parseWait = (text: unknown, defaultMs: number, reply: FastifyReply): Wait => ({
  ms: parseWaitMs(text, defaultMs),
  signal: callerGone(reply),
});

export function parseWaitMs(text: unknown, defaultMs: number): number {
  if (text === undefined || text === '') return defaultMs;
  const value = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= WAIT_MIN_MS && value <= WAIT_MAX_MS) return value;
  const failure = `wait: must be an integer from ${WAIT_MIN_MS} to ${WAIT_MAX_MS} (milliseconds)`;
  throw new PlatformError('invalid-query', failure, { errors: [failure] });
}

/** The connection closes, or the answer has been sent: nobody needs to be held then. */
export function callerGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    gone.abort(WAIT_OVER);
  });
  return gone.signal;
}
