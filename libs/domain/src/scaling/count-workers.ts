import { goneReason, WORKER_LIFECYCLE, type HostedWorker } from '../worker/index.js';

/** An endpoint's workers that are meant to run, by what they can do for a job that waits. */
export interface WorkerCounts {
  /** On the way to their first job. */
  readonly starting: number;
  readonly idle: number;
  readonly busy: number;
  /** Failed so often that nobody should wait for them. They still stand for a wanted worker. */
  readonly unhealthy: number;
}

/**
 * Counts the workers that scaling may count on: not those that leave or are paused, nor those of a lost host.
 *
 * @param observingSinceMs since when heartbeats have been received without a break
 */
export function countWorkers(workers: readonly HostedWorker[], observingSinceMs: number, nowMs: number): WorkerCounts {
  const counts = { starting: 0, idle: 0, busy: 0, unhealthy: 0 };
  for (const hosted of workers) {
    if (hosted.worker.intent !== 'running' || goneReason(hosted, observingSinceMs, nowMs) !== null) continue;
    counts[kindOf(hosted)] += 1;
  }
  return counts;
}

function kindOf({ worker: { observed } }: HostedWorker): keyof WorkerCounts {
  const { use } = WORKER_LIFECYCLE[observed?.phase ?? 'preparing'];
  return use === null || use === 'coming' ? 'starting' : use;
}

export const totalWorkers = ({ starting, idle, busy, unhealthy }: WorkerCounts): number =>
  starting + idle + busy + unhealthy;
