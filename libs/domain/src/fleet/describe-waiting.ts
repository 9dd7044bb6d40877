import type { Unplaced } from '../placement/index.js';
import type { WaitingWorker } from './fleet.js';

/** Entries of `waiting` that are kept, and hosts in each: enough to say why, whatever the number of workers and hosts. */
const WAITING_MAX = 50;
const WAITING_HOSTS_MAX = 50;

/**
 * Workers that have no place, as they are kept beside the decision.
 *
 * @param before as last kept: the same reason keeps its first instant, so that a person sees how long it has lasted
 */
export const describeWaiting = (
  unplaced: readonly Unplaced[],
  before: readonly WaitingWorker[],
  nowMs: number,
): readonly WaitingWorker[] =>
  unplaced.slice(0, WAITING_MAX).map(({ detail, hosts, reason }) => ({
    reason,
    detail,
    since: before.find((each) => each.reason === reason)?.since ?? new Date(nowMs).toISOString(),
    hosts: hosts.slice(0, WAITING_HOSTS_MAX).map((host) => ({ id: host.id, reason: host.detail })),
  }));
