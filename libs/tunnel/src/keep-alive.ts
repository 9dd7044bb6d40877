import type { Http2Session } from 'node:http2';
import type { Clock } from '@berth/lifecycle';

const PING_EVERY_MS = 5_000;
/** A peer that is frozen, or cut off, is noticed this long after the ping that it did not answer. */
const PING_WITHIN_MS = 10_000;

/** Pings the peer for as long as the session lives; `onSilent` is called once, when an answer does not come in time. */
export function keepAlive(session: Http2Session, clock: Clock, onSilent: () => void): void {
  let cancelLimit: (() => void) | null = null;
  const ping = (): void => {
    if (cancelLimit !== null || session.destroyed) return;
    const cancel = clock.after(PING_WITHIN_MS, onSilent);
    cancelLimit = cancel;
    // One that fails belongs to a session that is closing, of which its listeners hear.
    session.ping(() => {
      cancel();
      cancelLimit = null;
    });
  };
  const stop = clock.every(PING_EVERY_MS, ping);
  session.once('close', () => {
    stop();
    cancelLimit?.();
  });
}
