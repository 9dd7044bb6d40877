import { isGone, type Job, type JobKey } from '@berth/domain';
import type { JobStore } from './job-store.js';

/**
 * The job as a caller may see it. A record past its end is absent even where the broker still has it: a write that
 * arrived late made its TTL run late.
 */
export async function readJob(store: Pick<JobStore, 'records' | 'clock'>, key: JobKey): Promise<Job | null> {
  const stored = await store.records.read(key);
  return stored === null || isGone(stored.job, store.clock.nowMs()) ? null : stored.job;
}
