import type { WorkerId } from '../ids.js';
import type { Affinity } from '../load-balancer/index.js';
import { NO_DEMAND, type Demand, type StrictDemand } from './demand.js';

/** A request that waits for a worker. */
export interface HeldRequest {
  /** Unix. */
  readonly sinceUnixMs: number;
  readonly affinity: Affinity;
}

/** Workers that are named of one endpoint, so that what is told stays small; what waits for others brings what it may. */
export const STRICT_WORKERS_MAX = 16;

/**
 * What one router tells of the requests that it holds of one endpoint.
 *
 * @param held oldest first. Those that want one worker alone wait only while it is a worker of the endpoint
 */
export function demandOfHeld(held: readonly HeldRequest[]): Demand {
  const strict = new Map<string, number>();
  for (const { affinity } of held) {
    if (affinity.kind !== 'only') continue;
    if (strict.size >= STRICT_WORKERS_MAX && !strict.has(affinity.workerId)) continue;
    strict.set(affinity.workerId, (strict.get(affinity.workerId) ?? 0) + 1);
  }
  const named = [...strict].map(([workerId, queued]): StrictDemand => ({ workerId: workerId as WorkerId, queued }));
  return {
    ...{ ...NO_DEMAND, queuedNormal: held.length, oldestQueuedAtMs: held[0]?.sinceUnixMs ?? null },
    ...(named.length === 0 ? {} : { strict: named }),
  };
}
