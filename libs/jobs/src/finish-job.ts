import { finishJob, reportProgress, type JobKey, type Payload, type Result } from '@berth/domain';
import { changeJob } from './change-job.js';
import type { JobStore } from './job-store.js';
import { dropLease, putDelivery } from './hints.js';

export interface AttemptReport extends JobKey {
  readonly token: string;
}

/** `superseded`: the attempt is over and its result is dropped; nothing more will come of repeating it. */
export type ReportOutcome = 'recorded' | 'superseded';

/**
 * Ends a job by its current attempt: the payload is stored already, the record moves, the lease goes.
 * The agent repeats a result until it hears an answer; a repeat is `recorded` again.
 */
export async function finishAttempt(
  store: Pick<JobStore, 'records' | 'leases' | 'deliveries' | 'clock' | 'random'>,
  report: AttemptReport,
  result: Result,
): Promise<ReportOutcome> {
  const outcome = await changeJob(store, report, (job, nowMs) =>
    finishJob(job, { token: report.token, result }, nowMs),
  );
  if (outcome.kind === 'changed') {
    await dropLease(store, outcome.job);
    await putDelivery(store, outcome.job);
  }
  return outcome.kind === 'changed' || outcome.kind === 'unchanged' ? 'recorded' : 'superseded';
}

/** Shows a running attempt's progress as its output. Progress after the end is dropped. */
export async function recordProgress(
  store: Pick<JobStore, 'records' | 'clock' | 'random'>,
  report: AttemptReport,
  output: Payload,
): Promise<ReportOutcome> {
  const outcome = await changeJob(store, report, (job, nowMs) =>
    reportProgress(job, { token: report.token, output }, nowMs),
  );
  return outcome.kind === 'changed' ? 'recorded' : 'superseded';
}
