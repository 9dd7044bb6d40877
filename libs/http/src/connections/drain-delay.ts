import type { ConfigReader } from '@berth/lifecycle';

const MEANING =
  'How long new connections are still accepted on SIGTERM, while `/readyz` says 503 and each answer `Connection: close`: ' +
  'the time that load balancers need to notice.';
/** With the time that requests in flight have it stays below that in which a process must have stopped. */
const BOUNDS = { min: 0, max: 15_000, fallback: 2_000, unit: 'ms' };

/** Reads `BERTH_DRAIN_DELAY_MS`: the time between the word that a process leaves, and its listener's end. */
export const readDrainDelay = (read: ConfigReader): number => read.integer('BERTH_DRAIN_DELAY_MS', MEANING, BOUNDS);
