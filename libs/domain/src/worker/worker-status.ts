import type { ObservedWorker, WorkerPhase } from './worker.js';

/** Wire words of the management API. */
export type WorkerStatus = 'RUNNING' | 'IDLE' | 'INITIALIZING' | 'THROTTLED' | 'UNHEALTHY';

const STATUS_OF_PHASE: Readonly<Record<WorkerPhase, WorkerStatus>> = {
  preparing: 'INITIALIZING',
  starting: 'INITIALIZING',
  idle: 'IDLE',
  busy: 'RUNNING',
  paused: 'IDLE',
  draining: 'RUNNING',
  waiting: 'INITIALIZING',
  unhealthy: 'UNHEALTHY',
  removed: 'IDLE',
};

/** A worker that its host has not reported yet is initializing. */
export const workerStatus = (observed: ObservedWorker | null): WorkerStatus =>
  observed === null ? 'INITIALIZING' : STATUS_OF_PHASE[observed.phase];
