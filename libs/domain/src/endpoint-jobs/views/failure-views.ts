import type { JobId } from '../../ids.js';
import type { AttemptRecord, JobState } from '../../job/index.js';
import type { JobBody, JobData } from '../job-data.js';
import type { EndpointState } from '../state.js';
import { heldBody, type HeldPayload } from './job-views.js';

/** A job that has failed, as its trace tells it. */
export interface FailedJob extends Pick<JobData, 'jobId' | 'createdAtMs' | 'attempt'> {
  readonly state: Extract<JobState, 'FAILED' | 'TIMED_OUT'>;
  readonly endedAtMs: number;
  readonly history: readonly AttemptRecord[];
  readonly body: HeldPayload<JobBody>;
}

/** Those of these jobs that have failed. A job that has begun anew meanwhile, or is gone, has not. */
export function viewFailures(state: EndpointState, jobIds: readonly JobId[]): readonly FailedJob[] {
  return jobIds.flatMap((jobId) => {
    const job = state.jobs.get(jobId);
    if (job === undefined) return [];
    const { attempt, createdAtMs, endedAtMs, history, state: ended } = job.data;
    if ((ended !== 'FAILED' && ended !== 'TIMED_OUT') || endedAtMs === null) return [];
    return [{ jobId, attempt, createdAtMs, endedAtMs, history, state: ended, body: heldBody(job) }];
  });
}
