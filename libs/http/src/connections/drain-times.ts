import type { ConfigReader } from '@berth/lifecycle';

const MEANING =
  'How long new connections are still accepted on SIGTERM, while `/readyz` says 503 and each answer `Connection: close`: ' +
  'the time that load balancers need to notice.';
const BOUNDS = { min: 0, max: 15_000, fallback: 2_000, unit: 'ms' };

/** Reads `BERTH_DRAIN_DELAY_MS`: the time between the word that a process leaves, and its listener's end. */
export const readDrainDelay = (read: ConfigReader): number => read.integer('BERTH_DRAIN_DELAY_MS', MEANING, BOUNDS);

/**
 * How long requests in flight may take once the process stops: callers that are held are answered at once. A router has a
 * setting in its place.
 */
export const HTTP_DRAIN_MS = 10_000;

interface DrainTimes {
  readonly drainDelayMs: number;
  /** `HTTP_DRAIN_MS` unless given. */
  readonly drainMs?: number;
}

/** By how much a stop may take longer than the usual one, so that what follows these two times has as much as ever. */
export const moreToStopMs = ({ drainDelayMs, drainMs = HTTP_DRAIN_MS }: DrainTimes): number =>
  drainDelayMs - BOUNDS.fallback + drainMs - HTTP_DRAIN_MS;
