import type { EndpointId, JobId, WorkerId } from '../ids.js';
import type { JobState } from './job-state.js';
import type { Payload } from './payload.js';

/** The meaning of the endpoint's other jobs for one that waits. */
export interface QueueSight {
  /** Place in start order, from 1; null where that is not known yet. */
  readonly position: number | null;
  /** Jobs of the endpoint in progress, and the pace of the last minute. */
  readonly running: number;
  readonly endedLastMinute: number;
  readonly executionMsLastMinute: number;
}

/** A job as its callers may see it, but for the text of its payloads. It is JSON; instants are Unix ms. */
export interface JobSight {
  readonly endpointId: EndpointId;
  readonly jobId: JobId;
  readonly state: JobState;
  /** Ordinal of the present or next attempt, from 1. It grows with every requeue and never repeats, so it fences. */
  readonly attempt: number;
  readonly queuedAtMs: number;
  readonly notBeforeMs: number;
  readonly endedAtMs: number | null;
  readonly expiresAtMs: number;
  readonly isLowPriority: boolean;
  /** As `jobTimes` has them. */
  readonly delayTimeMs: number;
  readonly executionTimeMs: number;
  /** Attempts that a fault cost. */
  readonly retries: number;
  /** Of the present or last attempt; null: none was started, or the job waits again. */
  readonly workerId: WorkerId | null;
  readonly error: string | null;
  /** Of the present attempt; known when it has ended. */
  readonly chunks: number;
  /** The result, or the last progress while `IN_PROGRESS`. */
  readonly output: Payload | null;
  /** Null for a job that does not wait. */
  readonly queue: QueueSight | null;
}
