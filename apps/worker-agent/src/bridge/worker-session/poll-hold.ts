import type { Random } from '@berth/lifecycle';

const HOLD_MIN_MS = 18_000;
const HOLD_SPREAD_MS = 4_000;

/**
 * How long a poll of a worker that drains is held: short enough not to delay its exit, long enough not to be a hot loop.
 */
export const DRAIN_HOLD_MS = 2_000;

/**
 * From SIGTERM until a worker has heard of it, also where an init in its container passes it on. One that has not would
 * poll again when it is answered, and be held for `DRAIN_HOLD_MS`.
 */
export const SIGTERM_HEARD_MS = 100;

/**
 * How long a poll is held, in ms: below 30 s, where SDK 1.7.3 to 1.7.5 give up, and spread so that a host's workers do not
 * poll in step.
 */
export const pollHoldMs = (random: Random): number => HOLD_MIN_MS + HOLD_SPREAD_MS * random.fraction();
