import { WaitQueryDto } from '@berth/contracts/http';
import { readQuery, withoutEmpty } from '@berth/http';
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

export const parseWaitMs = (text: unknown, defaultMs: number): number =>
  readQuery(WaitQueryDto, withoutEmpty({ wait: text })).wait ?? defaultMs;

/** The connection closes, or the answer has been sent: nobody needs to be held then. */
export function callerGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    gone.abort(WAIT_OVER);
  });
  return gone.signal;
}
