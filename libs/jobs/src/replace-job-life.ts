import { replaceLife, type Job, type JobKey } from '@berth/domain';
import { changeJob } from './change-job.js';
import type { JobStore } from './job-store.js';

/**
 * Replaces what is left of a job's life by `leftMs`. The broker's TTL goes with the record, and every router's view with
 * the record's event. Returns null when there is no such job.
 */
export async function replaceJobLife(
  store: Pick<JobStore, 'records' | 'clock' | 'random'>,
  key: JobKey,
  leftMs: number,
): Promise<Job | null> {
  const outcome = await changeJob(store, key, (job, nowMs) => replaceLife(job, leftMs, nowMs));
  return outcome.kind === 'changed' || outcome.kind === 'unchanged' ? outcome.job : null;
}
