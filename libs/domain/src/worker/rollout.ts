import type { Worker } from './worker.js';

/** How far the latest release has come (wire contract 5.2). */
export interface Rollout {
  readonly inProgress: boolean;
  readonly workersOnLatest: number;
  readonly workersTotal: number;
  /** 0 to 100, whole; 100 where there is no worker. */
  readonly percentOnLatest: number;
}

/** The worker runs an older release than the endpoint's latest. */
export const isStale = (worker: Pick<Worker, 'release'>, latestRelease: number): boolean =>
  worker.release < latestRelease;

export function rolloutOf(workers: readonly Pick<Worker, 'release'>[], latestRelease: number): Rollout {
  const workersTotal = workers.length;
  const workersOnLatest = workers.filter((worker) => !isStale(worker, latestRelease)).length;
  return {
    inProgress: workersOnLatest < workersTotal,
    workersOnLatest,
    workersTotal,
    percentOnLatest: workersTotal === 0 ? 100 : Math.floor((100 * workersOnLatest) / workersTotal),
  };
}
