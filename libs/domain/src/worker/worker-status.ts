import { WORKER_LIFECYCLE, type WorkerStatus } from './worker-phase.js';
import type { ObservedWorker, Worker } from './worker.js';

/** A worker that its host has not reported yet is initializing. */
export const workerStatus = (observed: Pick<ObservedWorker, 'phase'> | null): WorkerStatus =>
  WORKER_LIFECYCLE[observed?.phase ?? 'preparing'].status;

/** Its container has come up and has not ended since: it takes jobs, or could at once. */
export const isUp = ({ observed }: Pick<Worker, 'observed'>): boolean =>
  observed !== null && WORKER_LIFECYCLE[observed.phase].isUp;

/**
 * How many workers are `THROTTLED`: wanted, and no host has room for them. They are told nowhere else and counted nowhere
 * else: a worker that has a host and fails to start is not one of them.
 *
 * @param unplaced those that the last plan found no host for; null: all have one
 */
export const throttledCount = (unplaced: { readonly count: number } | null | undefined): number => unplaced?.count ?? 0;

export type StatusCounts = Readonly<Record<WorkerStatus, number>>;

/** Workers by what their tenant sees of them; one that is gone is not counted. */
export function countStatuses(
  workers: readonly (Pick<ObservedWorker, 'phase'> | null)[],
  unplaced: { readonly count: number } | null | undefined,
): StatusCounts {
  const counts = { RUNNING: 0, IDLE: 0, INITIALIZING: 0, THROTTLED: throttledCount(unplaced), UNHEALTHY: 0 };
  for (const observed of workers) if (observed?.phase !== 'removed') counts[workerStatus(observed)] += 1;
  return counts;
}
