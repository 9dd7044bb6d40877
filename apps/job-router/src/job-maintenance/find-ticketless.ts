import type { JobSighting } from '../job-view/job-view.service.js';

/** A submit writes the ticket right after the record; one that is still missing after this needs help. */
export const TICKETLESS_GRACE_MS = 5_000;

/** A ticket that was seen is not looked for again before this. */
export const TICKET_TRUST_MS = 60_000;

/** `job/attempt`: names a ticket, a lease, an attempt's chunks. */
export const attemptName = ({ jobId, attempt }: { readonly jobId: string; readonly attempt: number }): string =>
  `${jobId}/${attempt}`;

/** Jobs that have waited long enough that their ticket should be looked for. */
export function jobsToCheck(
  queued: Iterable<JobSighting>,
  trustedUntilMs: ReadonlyMap<string, number>,
  nowMs: number,
): readonly JobSighting[] {
  const found: JobSighting[] = [];
  for (const job of queued) {
    const isDue = nowMs - job.queuedAtMs > TICKETLESS_GRACE_MS;
    if (isDue && (trustedUntilMs.get(attemptName(job)) ?? 0) <= nowMs) found.push(job);
  }
  return found;
}
