import { isUnreadable, purgeJob, type EndpointId, type JobKey } from '@berth/domain';
import { inParallel } from '@berth/lifecycle';
import { changeJob } from './change-job.js';
import { dropInput, dropTicketOf } from './hints.js';
import type { JobStore } from './job-store.js';

/** One attempt that a job waits for. */
export interface PurgeTarget extends JobKey {
  readonly attempt: number;
  readonly isLowPriority: boolean;
}

/** Tickets held in memory at one time, and removals under way. */
const PAGE = 256;
const PARALLEL = 32;

/**
 * Removes every job of the endpoint whose ticket waits now, of both priorities, delayed ones too, and returns how many
 * this call removed. Each is one compare-and-set, so a job counts once, whoever else takes, cancels or purges it at the
 * same time. What is submitted meanwhile stays.
 *
 * @throws PlatformError `service-unavailable`; what was removed by then stays removed, the rest stays queued
 */
export async function purgeQueue(store: JobStore, endpointId: EndpointId): Promise<number> {
  const lastSequence = await store.tickets.lastSequence(endpointId);
  let removed = 0;
  for (const isLowPriority of [false, true]) {
    for (let afterSequence = 0; afterSequence < lastSequence;) {
      const page = await store.tickets.list({ endpointId, isLowPriority, afterSequence, limit: PAGE });
      const due = page.filter(({ sequence }) => sequence <= lastSequence);
      const purged = await inParallel(due, PARALLEL, ({ ticket }) => purgeTicket(store, ticket));
      removed += purged.filter(Boolean).length;
      afterSequence = page.length < PAGE ? lastSequence : (page.at(-1)?.sequence ?? lastSequence);
    }
  }
  return removed;
}

/** A job whose record cannot be read stays where it is, and keeps no other from being removed. */
async function purgeTicket(store: JobStore, target: PurgeTarget): Promise<boolean> {
  try {
    return await purgeAttempt(store, target);
  } catch (error) {
    if (isUnreadable(error)) return false;
    throw error;
  }
}

/**
 * Removes the job if it waits for this very attempt: record, then its ticket and its input's parts. The ticket goes in
 * any case, since what it speaks of waits no more. True when it was this call that removed the job.
 */
export async function purgeAttempt(store: JobStore, target: PurgeTarget): Promise<boolean> {
  const outcome = await changeJob(store, target, (job, nowMs) => purgeJob(job, target.attempt, nowMs));
  await dropTicketOf(store, target);
  if (outcome.kind !== 'changed') return false;
  await dropInput(store, outcome.before);
  return true;
}
