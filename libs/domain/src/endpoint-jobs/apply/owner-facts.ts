import { LEASE_MS } from '../bounds.js';
import type { EndpointDeletedFact, OpenedFact } from '../facts.js';
import { newEndpointState, type EndpointState } from '../state.js';
import { stopOf } from './queue.js';
import type { TouchedJob } from './touched.js';

/** Nobody knows when the holders renewed last, so each gets a full lease. */
export function applyOpened(state: EndpointState, { atMs, term }: OpenedFact): readonly TouchedJob[] {
  state.term = term;
  for (const job of [...state.running.values()]) {
    job.leaseUntilMs = atMs + LEASE_MS;
    state.running.put(job);
  }
  return [];
}

/** Nothing is left but the word that nothing is: also of deliveries and keys. */
export function applyDeleted(state: EndpointState, { atMs, term }: EndpointDeletedFact): readonly TouchedJob[] {
  const touched = [...state.jobs.values()].map((job): TouchedJob => ({
    jobId: job.data.jobId,
    now: 'gone',
    stop: stopOf(job, 'endpoint deleted'),
  }));
  const { readAfter } = state;
  Object.assign(state, newEndpointState(readAfter), { lastAtMs: atMs, term, isDeleted: true, isWhole: true });
  return touched;
}
