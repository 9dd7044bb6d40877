import type { WindowState } from '@berth/domain';
import type { Caller } from '../auth/authenticator.js';

/** How a caller’s windows stand after a request, and whether it may go on. */
export interface RateLimitVerdict {
  readonly windows: readonly WindowState[];
  /** The spent window that refuses the request; null: it is admitted, and counted. */
  readonly spent: WindowState | null;
}

export interface RateLimiter {
  /** Counts one request. Null where the caller has no limits, or where nobody can tell: the request goes on. Never throws. */
  admit(caller: Caller): Promise<RateLimitVerdict | null>;
}
