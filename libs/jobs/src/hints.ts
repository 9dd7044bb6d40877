import { PlatformError, attachmentTtlMs, deliveryTtlMs, jobKeyOf, newDelivery, type Job } from '@berth/domain';
import type { JobStore } from './job-store.js';
import { RENEW_EARLIEST_MS } from './ports/leases.port.js';
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
  dropTicketOf(store, ticketOf(job));

export const dropTicketOf = (
  store: Pick<JobStore, 'tickets'>,
  { endpointId, jobId, attempt, isLowPriority }: Omit<Ticket, 'notBeforeMs'>,
): Promise<boolean> => hint(() => store.tickets.removeFor({ endpointId, jobId }, attempt, isLowPriority));

/** Removes what the job's last attempt streamed and gave. False: what is left goes with the job. */
export const dropOutput = (store: Pick<JobStore, 'blobs' | 'chunks' | 'deliveries'>, job: Job): Promise<boolean> =>
  hint(async () => {
    const key = jobKeyOf(job);
    await store.chunks.removeAttempt(key, job.attempt);
    if (job.output?.kind !== 'blob' || (await isUntold(store, job))) return;
    await store.blobs.remove(key, job.output.manifest.name);
  });

/** Whoever is still to be told of this end of the job is sent its output too. */
async function isUntold({ deliveries }: Pick<JobStore, 'deliveries'>, job: Job): Promise<boolean> {
  if (job.webhook === null) return false;
  const stored = await deliveries.read({ ...jobKeyOf(job), attempt: job.attempt });
  return stored?.delivery.outcome === null;
}

/** Removes the parts of a removed job's input. False: the pruner finds them without their job. */
export const dropInput = (store: Pick<JobStore, 'blobs'>, job: Job): Promise<boolean> =>
  hint(async () => {
    if (job.input.kind === 'blob') await store.blobs.removeAll(jobKeyOf(job));
  });

/**
 * Removes the lease of the job's attempt, where it is old enough to have one. False: it runs out by itself.
 *
 * @param job as it was while the attempt ran, or at its end
 */
export async function dropLease(store: Pick<JobStore, 'leases' | 'clock'>, job: Job): Promise<boolean> {
  const { attempt, current, endpointId, id: jobId } = job;
  if (current === null || store.clock.nowMs() - current.startedAtMs < RENEW_EARLIEST_MS) return true;
  return hint(() => store.leases.remove({ endpointId, jobId, attempt }));
}

/** Hints that somebody is to be told of the job's end. False: maintenance will have to make the delivery later. */
export const putDelivery = (store: Pick<JobStore, 'deliveries' | 'clock'>, job: Job): Promise<boolean> =>
  hint(async () => {
    const delivery = newDelivery(job, store.clock.nowMs());
    const { deliveries } = store;
    if (delivery !== null) await deliveries.create(delivery, deliveryTtlMs(delivery, deliveries.fill));
  });

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
