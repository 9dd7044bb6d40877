import { WORKER_LIFECYCLE, type WorkerStatus } from './worker-phase.js';
import type { ObservedWorker, Worker } from './worker.js';

/** What decides a worker's status. */
export type StatusFacts = Pick<ObservedWorker, 'phase' | 'lacksRoom'>;

/** A worker that its host has not reported yet is initializing; one that its host has no room for is throttled. */
export const workerStatus = (observed: StatusFacts | null): WorkerStatus =>
  observed?.lacksRoom === true ? 'THROTTLED' : WORKER_LIFECYCLE[observed?.phase ?? 'preparing'].status;

/** Its container has come up and has not ended since: it takes jobs, or could at once. */
export const isUp = ({ observed }: Pick<Worker, 'observed'>): boolean =>
  observed !== null && WORKER_LIFECYCLE[observed.phase].isUp;

/**
 * How many workers are wanted and have no place on any host, or none that their account may have: they are `THROTTLED`, as
 * is one whose own host has no room for it (`workerStatus`). Nothing else is.
 *
 * @param unplaced those that the last plan found no place for; null: all have one
 */
export const throttledCount = (unplaced: { readonly count: number } | null | undefined): number => unplaced?.count ?? 0;

export type StatusCounts = Readonly<Record<WorkerStatus, number>>;

/** Workers by what their tenant sees of them; one that is gone is not counted. */
export function countStatuses(
  workers: readonly (StatusFacts | null)[],
  unplaced: { readonly count: number } | null | undefined,
): StatusCounts {
  const counts = { RUNNING: 0, IDLE: 0, INITIALIZING: 0, THROTTLED: throttledCount(unplaced), UNHEALTHY: 0 };
  for (const observed of workers) if (observed?.phase !== 'removed') counts[workerStatus(observed)] += 1;
  return counts;
}
