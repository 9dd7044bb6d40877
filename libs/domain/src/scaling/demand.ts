import type { WorkerId } from '../ids.js';

/** Requests that wait for this worker, and that no other one can serve. */
export interface StrictDemand {
  readonly workerId: WorkerId;
  readonly queued: number;
}

/** What the routers see of one endpoint's jobs. Only normal jobs trigger scaling. */
export interface Demand {
  readonly queuedNormal: number;
  readonly queuedLow: number;
  /** All jobs in progress. */
  readonly running: number;
  /** Those of `running` that have low priority: they keep the workers they run on, and bring no other. */
  readonly runningLow: number;
  /** Instant from which the oldest waiting normal job waits; null when none waits. */
  readonly oldestQueuedAtMs: number | null;
  /** Jobs that ended within the last minute, and the time they ran, for the measured pace. */
  readonly endedLastMinute: number;
  readonly executionMsLastMinute: number;
  /** Those of `queuedNormal` that want one worker alone: they bring no other one. Absent: none does, as of a queue. */
  readonly strict?: readonly StrictDemand[];
}

/** Of an endpoint without any job. */
export const NO_DEMAND: Demand = {
  queuedNormal: 0,
  queuedLow: 0,
  running: 0,
  runningLow: 0,
  oldestQueuedAtMs: null,
  endedLastMinute: 0,
  executionMsLastMinute: 0,
};
