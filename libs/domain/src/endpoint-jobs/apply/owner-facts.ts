import type { EndpointDeletedFact, OpenedFact } from '../facts.js';
import { leaseAnew } from '../leases.js';
import { newEndpointState, type EndpointState } from '../state.js';
import { stopOf } from './queue.js';
import type { TouchedJob } from './touched-job.js';

export function applyOpened(state: EndpointState, { atMs, term }: OpenedFact): readonly TouchedJob[] {
  state.term = term;
  leaseAnew(state, atMs);
  return [];
}

/** Nothing is left but the word that nothing is: also of deliveries and keys. */
export function applyDeleted(state: EndpointState, { atMs, term }: EndpointDeletedFact): readonly TouchedJob[] {
  const touched = [...state.jobs.values()].map((job): TouchedJob => ({
    jobId: job.data.jobId,
    now: 'gone',
    stop: stopOf(job, 'endpoint deleted'),
    // Everything of the endpoint goes together.
    leftovers: null,
  }));
  const { readAfter } = state;
  Object.assign(state, newEndpointState(readAfter), { lastAtMs: atMs, term, isDeleted: true, isWhole: true });
  return touched;
}
