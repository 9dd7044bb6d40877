import type { Worker } from '../worker.js';

/** The worker runs an older release than the endpoint's latest. */
export const isStale = (worker: Pick<Worker, 'release'>, latestRelease: number): boolean =>
  worker.release < latestRelease;
