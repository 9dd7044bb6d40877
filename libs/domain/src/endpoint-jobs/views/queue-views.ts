import type { JobId } from '../../ids.js';
import type { QueueSight } from '../../job/index.js';
import type { Demand } from '../../scaling/index.js';
import type { EndpointState, LivingJob } from '../state.js';

/** The counts of `/health` that concern jobs. */
export interface JobCounts {
  readonly completed: number;
  /** A job that ran out of time has failed as far as these counts go: the API has no fifth word for it. */
  readonly failed: number;
  readonly inProgress: number;
  readonly inQueue: number;
  readonly retried: number;
}

export const viewHealth = (state: EndpointState): JobCounts => ({
  completed: state.counters.completed,
  failed: state.counters.failed + state.counters.timedOut,
  inProgress: runningOf(state),
  inQueue: waitingOf(state.normal) + waitingOf(state.low),
  retried: state.counters.retried,
});

const runningOf = ({ runningLow, runningNormal }: EndpointState): number => runningNormal + runningLow;

const waitingOf = ({ delayed, ready }: EndpointState['normal']): number => delayed.size + ready.size;

/** A waiting job's number in start order, from 1; null where it does not wait. */
export function viewPosition(state: EndpointState, jobId: JobId): number | null {
  const job = state.jobs.get(jobId);
  return job === undefined ? null : positionOf(state, job);
}

function positionOf(state: EndpointState, job: LivingJob): number | null {
  if (job.data.state !== 'IN_QUEUE') return null;
  const before = ({ delayed, ready }: EndpointState['normal']): number => ready.before(job) + delayed.before(job);
  return 1 + (job.data.isLowPriority ? waitingOf(state.normal) + before(state.low) : before(state.normal));
}

/** The meaning of the endpoint's other jobs for this one; null where it does not wait. */
export function queueSightOf(state: EndpointState, job: LivingJob, atMs: number): QueueSight | null {
  const position = positionOf(state, job);
  if (position === null) return null;
  const { ended, executionMs } = state.pace.read(atMs);
  return { position, running: runningOf(state), endedLastMinute: ended, executionMsLastMinute: executionMs };
}

export function viewDemand(state: EndpointState, atMs: number): Demand {
  const { ended, executionMs } = state.pace.read(atMs);
  return {
    queuedNormal: waitingOf(state.normal),
    queuedLow: waitingOf(state.low),
    running: runningOf(state),
    runningLow: state.runningLow,
    oldestQueuedAtMs: oldestOf(state),
    endedLastMinute: ended,
    executionMsLastMinute: executionMs,
  };
}

function oldestOf({ normal: { delayed, ready } }: EndpointState): number | null {
  const instants = [ready.first, delayed.first].flatMap((job) => (job === undefined ? [] : [job.data.queuedAtMs]));
  return instants.length === 0 ? null : Math.min(...instants);
}

/** When the owner must look again, Unix ms; infinite where no job will ever be due. */
export const nextLookAtMs = ({ delays, lives, running }: EndpointState): number =>
  Math.min(delays.nextAtMs, lives.nextAtMs, running.nextAtMs);

/** When a try of a delivery may begin, Unix ms; infinite where none is pending. */
export const nextTryAtMs = ({ sending }: EndpointState): number => sending.nextAtMs;
