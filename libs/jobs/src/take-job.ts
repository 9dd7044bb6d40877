import { takeJob, type HostId, type Job, type JobKey, type WorkerId } from '@berth/domain';
import { changeJob } from './change-job.js';
import type { JobStore } from './job-store.js';
import type { Ticket } from './ports/tickets.port.js';

export interface Taking {
  readonly hostId: HostId;
  readonly workerId: WorkerId;
}

/**
 * `stale`: the ticket speaks of nothing that can be taken any more and should go.
 * `not-yet`: its delay still runs; it stays.
 */
export type TakeOutcome =
  { readonly kind: 'taken'; readonly job: Job } | { readonly kind: 'stale' } | { readonly kind: 'not-yet' };

/**
 * Takes the job of one ticket for a worker by compare-and-set. The caller removes the ticket afterwards. The record is
 * also the first lease: a holder that never renews has none, and the reaper queues a job again whose lease is missing
 * for the life of one (ADR 0027). A crash before the write leaves the ticket.
 *
 * @throws PlatformError `service-unavailable`; the ticket must then stay where it is
 */
export async function takeTicket(store: JobStore, ticket: Ticket, taking: Taking): Promise<TakeOutcome> {
  const key: JobKey = { endpointId: ticket.endpointId, jobId: ticket.jobId };
  const token = store.random.id(TOKEN_LENGTH);
  const outcome = await changeJob(store, key, (job, nowMs) =>
    takeJob(job, { ...taking, attempt: ticket.attempt, token }, nowMs),
  );
  if (outcome.kind === 'not-found') return { kind: 'stale' };
  if (outcome.kind === 'refused') return { kind: outcome.reason === 'not-yet' ? 'not-yet' : 'stale' };
  return { kind: 'taken', job: outcome.job };
}

const TOKEN_LENGTH = 32;
