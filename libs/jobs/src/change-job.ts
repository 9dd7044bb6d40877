import {
  PlatformError,
  milestonesBehind,
  recordTtlMs,
  type Job,
  type JobKey,
  type Refusal,
  type Verdict,
} from '@berth/domain';
import type { JobStore } from './job-store.js';
import type { StoredJob } from './ports/job-records.port.js';

export type ChangeOutcome =
  | { readonly kind: 'changed'; readonly job: Job; readonly before: Job }
  | { readonly kind: 'unchanged'; readonly job: Job }
  | { readonly kind: 'refused'; readonly reason: Refusal; readonly job: Job }
  | { readonly kind: 'not-found' };

/** A writer that loses this often in a row is not racing, something is broken. */
const ROUNDS_MAX = 24;

/**
 * The one way in which a job record changes: from what this process wrote last, or the latest read, decide, and write
 * over exactly that. A lost race reads and decides again; so does a decision against the change that rests on what is
 * remembered, since only what is read may be told (ADR 0027). An unknown outcome is read back: the record's mutation
 * says whose write it is, and while it is not ours the same compare-and-set is tried again, which cannot happen twice.
 *
 * @throws PlatformError `service-unavailable` when the store does not answer, or when no round could settle it
 */
export async function changeJob(
  store: Pick<JobStore, 'records' | 'clock' | 'random'>,
  key: JobKey,
  decide: (job: Job, nowMs: number) => Verdict,
): Promise<ChangeOutcome> {
  const mutation = store.random.uuid();
  let before: Job | undefined;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const recalled = round === 0 ? store.records.recall(key) : null;
    const stored = recalled ?? (await store.records.read(key));
    if (stored === null) return { kind: 'not-found' };
    if (before !== undefined && stored.job.mutation === mutation) return { kind: 'changed', job: stored.job, before };
    const verdict = decide(stored.job, store.clock.nowMs());
    if (verdict.kind !== 'changed') {
      if (recalled === null) return verdict;
      continue;
    }
    const milestones = milestonesBehind(stored.job, stored.sequence);
    const written = await replace(store, stored, { ...verdict.job, mutation, milestones });
    if (written !== null) return { kind: 'changed', job: written, before: stored.job };
    before = stored.job;
  }
  throw new PlatformError('service-unavailable', 'The job is being changed by others; try again.', {
    retryAfterSeconds: 1,
  });
}

async function replace(store: Pick<JobStore, 'records' | 'clock'>, stored: StoredJob, job: Job): Promise<Job | null> {
  const outcome = await store.records.replace(job, stored.sequence, recordTtlMs(job, store.clock.nowMs()));
  return outcome.kind === 'written' ? job : null;
}
