import { loseAttempt, retryDelayMs, type HostId, type Job, type JobKey } from '@berth/domain';
import { changeJob, type ChangeOutcome } from './change-job.js';
import type { JobStore } from './job-store.js';
import { dropLease, putDelivery, putTicket } from './hints.js';

export interface LostAttempt extends JobKey {
  readonly attempt: number;
  /** Present when the holder itself gives the attempt up. */
  readonly token?: string;
  readonly reason: string;
  readonly isCharged: boolean;
  /** The last lines that its worker wrote, oldest first; what is more than fits is cut. */
  readonly logTail?: readonly string[] | undefined;
}

/**
 * Queues the job again as a new attempt, or fails it when faults have cost it all it may have:
 * record, then ticket, then the old lease and what the attempt had streamed.
 */
export async function giveUpAttempt(store: JobStore, lost: LostAttempt): Promise<ChangeOutcome> {
  const fraction = store.random.fraction();
  const outcome = await changeJob(store, lost, (job, nowMs) =>
    loseAttempt(job, { ...lost, delayMs: delayMs(job, lost.isCharged, fraction) }, nowMs),
  );
  if (outcome.kind === 'changed') await settle(store, outcome.before, outcome.job);
  return outcome;
}

/** Written over a lease before its attempt is given to another, so that no late renewal can revive it. */
const REVOKED = { token: 'revoked', hostId: '' as HostId } as const;

/**
 * Takes an attempt from a holder that no longer renews: first the lease is revoked by compare-and-set on what was seen,
 * which shuts out a renewal that is under way, then the record moves. A crash in between leaves a revoked lease, which
 * runs out like any other and is found again.
 */
export async function reapAttempt(store: JobStore, key: JobKey, attempt: number): Promise<ChangeOutcome | 'held'> {
  const leaseKey = { ...key, attempt };
  const state = await store.leases.read(leaseKey);
  if (state.kind === 'live') return 'held';
  const expected = state.kind === 'missing' ? 0 : state.sequence;
  const revoked = await store.leases.write(leaseKey, REVOKED, expected);
  if (revoked === null) return 'held';
  return giveUpAttempt(store, { ...leaseKey, reason: WORKER_LOST, isCharged: true });
}

/** What a caller reads when the last attempt's holder went silent. */
const WORKER_LOST = 'worker lost: its host stopped answering';

const delayMs = (job: Job, isCharged: boolean, fraction: number): number =>
  isCharged ? retryDelayMs(job.charged + 1, fraction) : 0;

async function settle(store: JobStore, before: Job, job: Job): Promise<void> {
  if (job.state === 'IN_QUEUE') await putTicket(store, job);
  await dropLease(store, before);
  await putDelivery(store, job);
}
