import type { JobSighting } from '../job-view/job-view.service.js';
import { attemptName } from './attempt-name.js';

/** A lease that was never seen, or was lost with the broker's memory, proves nothing before it was away this long. */
const LEASELESS_GRACE_MS = 30_000;

export interface LeaseSighting {
  readonly stateOf: (job: JobSighting) => 'live' | 'expired' | 'unseen';
  /** How long the watch of leases has been whole, in ms. */
  readonly wholeForMs: number;
  /** Monotonic. */
  readonly nowMs: number;
}

export interface LostLeases {
  readonly lost: readonly { readonly job: JobSighting; readonly why: 'expired' | 'missing' }[];
  /** For the next look: since when each lease was missing, by attempt. */
  readonly missingSinceMs: ReadonlyMap<string, number>;
}

/**
 * Attempts whose holder has stopped renewing (design, "A missing lease is not an expired one"): at once where the
 * broker says that the lease ran out; where it is only missing, after it was seen so for 30 s on this clock, counted
 * from the later of the first sight and the watch's last reset.
 */
export function findLostLeases(
  running: Iterable<JobSighting>,
  before: ReadonlyMap<string, number>,
  outlook: LeaseSighting,
): LostLeases {
  const lost: { job: JobSighting; why: 'expired' | 'missing' }[] = [];
  const missingSinceMs = new Map<string, number>();
  for (const job of running) {
    const state = outlook.stateOf(job);
    if (state === 'expired') lost.push({ job, why: 'expired' });
    if (state !== 'unseen') continue;
    const name = attemptName(job);
    const sinceMs = before.get(name) ?? outlook.nowMs;
    missingSinceMs.set(name, sinceMs);
    const missingForMs = Math.min(outlook.nowMs - sinceMs, outlook.wholeForMs);
    if (missingForMs >= LEASELESS_GRACE_MS) lost.push({ job, why: 'missing' });
  }
  return { lost, missingSinceMs };
}
