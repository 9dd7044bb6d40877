import type { Unplaced } from '../placement/index.js';
import type { FleetEndpoint, WaitingWorker } from './fleet.js';

/** Entries of `waiting` that are kept, and hosts in each: enough to say why, whatever the number of workers and hosts. */
const WAITING_MAX = 50;
const WAITING_HOSTS_MAX = 50;

/** Workers that have no place, all for one reason. */
export interface UnplacedTally {
  readonly count: number;
  readonly why: Unplaced;
}

/**
 * Workers that have no place, as they are kept beside the decision.
 *
 * @param before as last kept: who waits keeps the first instant whatever the nearest refusal is by now, so that a person
 * sees how long the worker has waited, and nobody loses the place in the line
 */
export function describeWaiting(
  unplaced: UnplacedTally | null,
  before: readonly WaitingWorker[],
  nowMs: number,
): readonly WaitingWorker[] {
  if (unplaced === null) return [];
  const { detail, hosts, reason } = unplaced.why;
  const waiting: WaitingWorker = {
    reason,
    detail,
    since: before[0]?.since ?? new Date(nowMs).toISOString(),
    hosts: hosts.slice(0, WAITING_HOSTS_MAX).map((host) => ({ id: host.id, reason: host.detail })),
  };
  return Array.from({ length: Math.min(unplaced.count, WAITING_MAX) }, () => waiting);
}

/** Since when a worker of the endpoint waits for a place; without one after all instants. */
export const waitingSinceMs = ({ lastDecision }: Pick<FleetEndpoint, 'lastDecision'>): number =>
  Math.min(Number.MAX_SAFE_INTEGER, ...(lastDecision?.waiting ?? []).map(({ since }) => Date.parse(since)));
