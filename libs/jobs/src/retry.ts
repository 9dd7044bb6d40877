import { retryJob, type Job, type JobKey } from '@berth/domain';
import { changeJob, type ChangeOutcome } from './change-job.js';
import { dropOutput, putTicket } from './hints.js';
import type { JobStore } from './job-store.js';

/**
 * Queues a failed or timed-out job again at a caller's word: record, then what the attempt before it left, then the
 * ticket. A crash in between leaves parts that go with the job, or a ticket that the ticketer puts.
 *
 * A caller who lost the race against another's retry got what was asked for, however far the new attempt is by then.
 */
export async function retry(store: JobStore, key: JobKey): Promise<ChangeOutcome> {
  let retriedAttempt: number | null = null;
  const outcome = await changeJob(store, key, (job, nowMs) => {
    if (retriedAttempt !== null && job.attempt > retriedAttempt) return { kind: 'unchanged', job };
    const verdict = retryJob(job, nowMs);
    if (verdict.kind === 'changed') retriedAttempt = job.attempt;
    return verdict;
  });
  if (outcome.kind === 'changed') await settle(store, outcome);
  return outcome;
}

async function settle(store: JobStore, { before, job }: { readonly before: Job; readonly job: Job }): Promise<void> {
  await dropOutput(store, before);
  await putTicket(store, job);
}
