import type { AccountId, EndpointId, JobKey } from '../ids.js';
import { isEnded, type Job, type JobState } from '../job/index.js';
import { describeJob, type JobDetail } from './job-summary.js';

/** A version of a job's record, or its disappearance, as the stream of events tells it. */
export type HistoryEvent =
  | { readonly kind: 'changed'; readonly job: Job; readonly recordSequence: number }
  | { readonly kind: 'removed'; readonly key: JobKey; readonly recordSequence: number };

/** One job of the history, and which version of its record that is. */
export interface HistoryRow {
  readonly accountId: AccountId;
  readonly endpointId: EndpointId;
  readonly job: JobDetail;
  readonly attempt: number;
  readonly recordSequence: number;
}

export interface RemovedJob extends JobKey {
  readonly recordSequence: number;
}

export interface HistoryChanges {
  /** At most one of each job, written where the kept one is older. */
  readonly rows: readonly HistoryRow[];
  /** Jobs that are gone: a row that does not say how they ended goes as well. */
  readonly removed: readonly RemovedJob[];
}

/**
 * Whether a version concerns the history: it keeps how jobs ended. A job that was queued again may have ended before, so
 * that its row, if there is one, must not be told any longer.
 */
export const concernsHistory = ({ attempt, state }: { readonly attempt: number; readonly state: JobState }): boolean =>
  isEnded(state) || attempt > 1;

/** What a batch of events changes in the history, in whatever order and however often they come. */
export function projectEvents(events: readonly HistoryEvent[]): HistoryChanges {
  const rows = new Map<string, HistoryRow>();
  const removed = new Map<string, RemovedJob>();
  for (const event of events) {
    if (event.kind === 'removed') keepNewest(removed, nameOf(event.key), { ...event.key, ...sequenceOf(event) });
    else if (concernsHistory(event.job)) keepNewest(rows, nameOf(jobKey(event.job)), rowOf(event));
  }
  for (const [name, { recordSequence }] of removed) {
    const row = rows.get(name);
    if (row !== undefined && !isEnded(row.job.status) && row.recordSequence < recordSequence) rows.delete(name);
  }
  return { rows: [...rows.values()], removed: [...removed.values()] };
}

function keepNewest<Kept extends { readonly recordSequence: number }>(
  kept: Map<string, Kept>,
  name: string,
  candidate: Kept,
): void {
  const present = kept.get(name);
  if (present === undefined || present.recordSequence < candidate.recordSequence) kept.set(name, candidate);
}

const rowOf = ({ job, recordSequence }: Extract<HistoryEvent, { kind: 'changed' }>): HistoryRow => ({
  accountId: job.accountId,
  endpointId: job.endpointId,
  // Nothing that is told of an ended job depends on the present.
  job: describeJob(job, job.endedAtMs ?? job.queuedAtMs),
  attempt: job.attempt,
  recordSequence,
});

const jobKey = ({ endpointId, id }: Job): JobKey => ({ endpointId, jobId: id });
const nameOf = ({ endpointId, jobId }: JobKey): string => `${endpointId}/${jobId}`;
const sequenceOf = ({ recordSequence }: HistoryEvent) => ({ recordSequence });
