import { cancelJob, timeOutJob, type Job, type JobKey } from '@berth/domain';
import { changeJob, type ChangeOutcome } from './change-job.js';
import type { JobStore } from './job-store.js';
import { dropLease, dropTicket, putDelivery } from './hints.js';

/** Cancels a job at once; an ended job keeps its state. Returns null when there is no such job. */
export async function cancel(store: JobStore, key: JobKey): Promise<Job | null> {
  const outcome = await changeJob(store, key, cancelJob);
  await stopAfter(store, outcome, 'cancelled');
  return outcome.kind === 'changed' || outcome.kind === 'unchanged' ? outcome.job : null;
}

/** The agent stops a job at its deadline; this is for an agent that did not. */
export async function timeOut(store: JobStore, key: JobKey): Promise<ChangeOutcome> {
  const outcome = await changeJob(store, key, (job, nowMs) => timeOutJob(job, TIMEOUT_GRACE_MS, nowMs));
  await stopAfter(store, outcome, 'timed out');
  return outcome;
}

/** How long past the deadline the router waits for the agent's own word (reference, 4.6). */
export const TIMEOUT_GRACE_MS = 15_000;

/** Signal first, then the hints: an agent that hears nothing learns it from its next renewal. */
async function stopAfter(store: JobStore, outcome: ChangeOutcome, reason: string): Promise<void> {
  if (outcome.kind !== 'changed') return;
  const { before, job } = outcome;
  if (before.current !== null) {
    const { hostId, token } = before.current;
    store.stopSignals.send(hostId, { endpointId: job.endpointId, jobId: job.id, attempt: job.attempt, token, reason });
    await dropLease(store, job);
  } else {
    await dropTicket(store, job);
  }
  await putDelivery(store, job);
}
