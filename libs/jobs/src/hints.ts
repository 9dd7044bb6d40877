import { PlatformError, attachmentTtlMs, type Job } from '@berth/domain';
import type { JobStore } from './job-store.js';
import type { Ticket } from './ports/tickets.port.js';

export const ticketOf = (job: Job): Ticket => ({
  endpointId: job.endpointId,
  jobId: job.id,
  attempt: job.attempt,
  isLowPriority: job.lowPriority,
  notBeforeMs: job.notBeforeMs,
});

/** Hints that the job waits. False: the ticketer will have to put the ticket later. */
export const putTicket = (store: Pick<JobStore, 'tickets' | 'clock'>, job: Job): Promise<boolean> =>
  hint(() => store.tickets.put(ticketOf(job), attachmentTtlMs(job, store.clock.nowMs())));

/** Removes the hint of an attempt that nobody shall take. False: the next taker finds it stale. */
export const dropTicket = (store: Pick<JobStore, 'tickets'>, job: Job): Promise<boolean> =>
  hint(() => store.tickets.removeFor({ endpointId: job.endpointId, jobId: job.id }, job.attempt, job.lowPriority));

/** Removes the lease of the job's attempt. False: it runs out by itself. */
export const dropLease = (store: Pick<JobStore, 'leases'>, job: Job): Promise<boolean> =>
  hint(() => store.leases.remove({ endpointId: job.endpointId, jobId: job.id, attempt: job.attempt }));

/** The record is written already, so a store that will not take a hint changes nothing of what was promised. */
async function hint(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'service-unavailable') return false;
    throw error;
  }
}
