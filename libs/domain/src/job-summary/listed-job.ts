import type { QueueSight } from '../job/index.js';
import type { JobDetail, JobSummary } from './job-summary.js';

/** The data beside the fleet that are needed to say why a job waits. */
export interface ListedQueue extends QueueSight {
  readonly notBeforeMs: number;
  readonly queuedAtMs: number;
  readonly isLowPriority: boolean;
  readonly attempt: number;
}

/** A job of a list, with its place among those that wait. */
export interface ListedJob extends JobSummary {
  /** Null for a job that does not wait. */
  readonly queue: ListedQueue | null;
}

/** One job with everything that is told of it. */
export interface DescribedJob {
  readonly detail: JobDetail;
  readonly queue: ListedQueue | null;
}
