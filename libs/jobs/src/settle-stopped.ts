import { settleStop, type JobKey } from '@berth/domain';
import { changeJob } from './change-job.js';
import type { ReportOutcome } from './finish-job.js';
import type { JobStore } from './job-store.js';

/** Names an attempt that was cancelled or timed out, and proves that the sender held it. */
export interface StoppedAttempt extends JobKey {
  readonly attempt: number;
  readonly token: string;
  /** The last lines that its worker wrote, oldest first; what is more than fits is cut. */
  readonly logTail?: readonly string[] | undefined;
}

/**
 * Notes on the ended record when the worker of a cancelled or timed-out attempt really let go. Only the first word
 * counts, its repeat is `recorded` again, and the record lives no longer for it.
 *
 * @param stoppedAtMs Unix ms on the routers' clock
 */
export async function settleStopped(
  store: Pick<JobStore, 'records' | 'clock' | 'random'>,
  report: StoppedAttempt,
  stoppedAtMs: number,
): Promise<ReportOutcome> {
  const { attempt, token, logTail } = report;
  const outcome = await changeJob(store, report, (job, nowMs) =>
    settleStop(job, { attempt, token, stoppedAtMs, logTail }, nowMs),
  );
  return outcome.kind === 'changed' || outcome.kind === 'unchanged' ? 'recorded' : 'superseded';
}
