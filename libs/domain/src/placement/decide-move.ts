import type { HostId } from '../ids.js';
import type { Worker } from '../worker/index.js';
import type { HostLoad } from './free-resources.js';
import { placeWorker } from './place-worker.js';
import type { PlacementRequest } from './placement-request.js';

/** After this many failed starts in a row on one host another one is tried. */
const MOVE_AFTER_FAILURES = 3;

/** How many hosts a worker remembers on which it, or who it comes from, has failed. */
export const FAILED_HOSTS_MAX = 50;

export type MoveDecision =
  /** It goes from here, and its successor comes to another host. */
  | { readonly kind: 'move'; readonly because: string }
  /** It goes on trying where it is, ever more slowly. */
  | { readonly kind: 'stay'; readonly because: string }
  /** It does not fail, or not often enough. */
  | { readonly kind: 'leave-alone' };

export interface MoveQuestion {
  readonly worker: Worker;
  /** Those of its endpoint and release, itself included. */
  readonly siblings: readonly Worker[];
  readonly request: PlacementRequest;
  readonly hosts: readonly HostLoad[];
}

/**
 * Whether a worker that fails again and again shall be tried on another host. What is wrong may be wrong with the host;
 * where every other one has seen it fail as well, it is wrong with the worker, which then waits ever longer.
 */
export function decideMove({ hosts, request, siblings, worker }: MoveQuestion, nowMs: number): MoveDecision {
  if (!isFailing(worker)) return { kind: 'leave-alone' };
  const failed = new Set<HostId>([worker.hostId, ...failedHosts(siblings), ...(worker.failedOn ?? [])]);
  const others = hosts.filter(({ host }) => !failed.has(host.id));
  const where = `it has failed ${MOVE_AFTER_FAILURES} times in a row on host ${worker.hostId}`;
  // What is not remembered could be chosen again, and the worker would move in a circle for ever.
  if ((worker.failedOn?.length ?? 0) >= FAILED_HOSTS_MAX) {
    return { kind: 'stay', because: `${where} and stays there: it failed on ${FAILED_HOSTS_MAX} hosts before` };
  }
  if (others.length === 0) {
    const why = failed.size > 1 ? 'it failed on every other host as well' : 'there is no other host';
    return { kind: 'stay', because: `${where} and stays there: ${why}` };
  }
  const placed = placeWorker(request, others, nowMs);
  if (placed.kind === 'placed') return { kind: 'move', because: `${where}; host ${placed.hostId} can take it` };
  return { kind: 'stay', because: `${where} and stays there, since no other can take it: ${placed.detail}` };
}

/** Hosts on which workers of a release failed so often that a new one had better not come there. */
export const failedHosts = (workers: readonly Worker[]): readonly HostId[] => [
  ...new Set(
    workers.flatMap(({ failedOn = [], hostId, observed }) =>
      (observed?.failedStarts ?? 0) >= MOVE_AFTER_FAILURES ? [...failedOn, hostId] : failedOn,
    ),
  ),
];

/** Between two starts, so nothing of it runs. */
function isFailing({ intent, observed }: Worker): boolean {
  const isDown = observed?.phase === 'waiting' || observed?.phase === 'unhealthy';
  return intent === 'running' && isDown && observed.failedStarts >= MOVE_AFTER_FAILURES;
}
