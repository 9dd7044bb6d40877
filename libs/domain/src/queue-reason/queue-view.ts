import { WORKER_LIFECYCLE, type WorkerPhase, type WorkerUse } from '../worker/index.js';
import type { EndpointOutlook } from './endpoint-outlook.js';

/** Workers of an endpoint, by what they can do for a job that waits. */
export interface WorkerTally {
  readonly idle: number;
  readonly busy: number;
  /** Not ready yet. */
  readonly coming: number;
  /** Told to leave. */
  readonly leaving: number;
}

/** Instants are Unix ms. */
interface WaitingJob {
  readonly attempt: number;
  readonly isLowPriority: boolean;
  /** Not to be taken before this instant: the delay between attempts. */
  readonly notBeforeMs: number;
  readonly queuedAtMs: number;
}

/** All that a waiting job's reason is derived from, as one router sees it. */
export interface QueueView {
  readonly job: WaitingJob;
  /** Place in start order, from 1; null while the router may not know every job. */
  readonly position: number | null;
  readonly workersMax: number;
  readonly workers: WorkerTally;
  /** Null where the control plane has said nothing: there is no worker and none is wanted. */
  readonly outlook: EndpointOutlook | null;
  /** Jobs of the endpoint in progress, and the pace of the last minute. */
  readonly running: number;
  readonly endedLastMinute: number;
  readonly executionMsLastMinute: number;
  /** The control plane's last sign of life. */
  readonly controlHeardAtMs: number;
}

/** The tally of a job that waits: a worker that is unhealthy is on its way too, however long that takes. */
const KIND_OF_USE: Readonly<Record<WorkerUse, keyof WorkerTally>> = {
  idle: 'idle',
  busy: 'busy',
  coming: 'coming',
  unhealthy: 'coming',
};

export function tallyWorkers(
  workers: readonly { readonly phase: WorkerPhase; readonly isDraining: boolean; readonly isPaused?: boolean }[],
): WorkerTally {
  const tally = { idle: 0, busy: 0, coming: 0, leaving: 0 };
  for (const { isDraining, isPaused = false, phase } of workers) {
    const { use } = WORKER_LIFECYCLE[isPaused && phase === 'idle' ? 'paused' : phase];
    if (use !== null) tally[isDraining ? 'leaving' : KIND_OF_USE[use]] += 1;
  }
  return tally;
}

/** A worker that is idle asks for its next job at once, so that one takes a job within milliseconds of its coming. */
const UNTAKEN_MS = 5_000;

/**
 * True where an idle worker should have taken the job long ago: its host may be away, which counts as lost only after
 * `HOST_LOST_MS`.
 */
export function isUntaken({ job, position, workers }: QueueView, nowMs: number): boolean {
  const isNext = position !== null && position <= workers.idle;
  return isNext && nowMs - Math.max(job.queuedAtMs, job.notBeforeMs) >= UNTAKEN_MS;
}
