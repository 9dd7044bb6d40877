import { isGone, type HostId, type Job, type JobKey } from '@berth/domain';
import type { JobStore } from './job-store.js';
import type { LeaseState } from './ports/leases.port.js';

export interface Renewal extends JobKey {
  readonly attempt: number;
  readonly token: string;
}

/**
 * `lost`: the attempt is over, the agent must stop it. `unknown`: nothing was learnt, so the agent's trust does not
 * grow; it asks again at its next interval.
 */
export type RenewOutcome = 'renewed' | 'lost' | 'unknown';

/**
 * Prolongs one lease, or writes the first one. The record is asked each time: it alone says whether the attempt is
 * still its holder's. A lease that is missing or ran out is written while it does, unless the reaper has put its own in
 * that place first.
 */
export async function renewLease(
  store: Pick<JobStore, 'records' | 'leases' | 'clock'>,
  renewal: Renewal,
  hostId: HostId,
): Promise<RenewOutcome> {
  const [stored, state] = await Promise.all([store.records.read(renewal), store.leases.read(renewal)]);
  if (stored === null || !isHolder(stored.job, renewal, store.clock.nowMs())) return 'lost';
  if (state.kind === 'live' && state.lease.token !== renewal.token) return 'lost';
  const sequence = await store.leases.write(renewal, { token: renewal.token, hostId }, sequenceOf(state));
  return sequence === null ? 'unknown' : 'renewed';
}

function isHolder(job: Job, renewal: Renewal, nowMs: number): boolean {
  const isCurrent = job.attempt === renewal.attempt && job.current?.token === renewal.token;
  return isCurrent && job.state === 'IN_PROGRESS' && !isGone(job, nowMs);
}

const sequenceOf = (state: LeaseState): number => (state.kind === 'missing' ? 0 : state.sequence);
