import type { WorkerId } from '../../ids.js';
import { placeWorker } from '../../placement/index.js';
import type { Worker } from '../../worker/index.js';
import type { FleetOperation } from '../fleet-operation.js';
import type { Room } from '../plan-staffing.js';
import type { UnplacedTally } from '../waiting-workers.js';
import type { Claim } from './hand-out.js';

/** Old workers that may leave for new ones that have no room beside them. */
export interface YieldingPlaces {
  /** How many of them. */
  readonly mayYield: number;
  /** In the order in which they are asked. */
  readonly yielding: readonly WorkerId[];
}

interface Yielded {
  readonly leaving: readonly FleetOperation[];
  /** Without those for whom somebody leaves. */
  readonly unplaced: UnplacedTally | null;
}

/**
 * The workers that leave because a new one has no place: old ones whose place it could have, and, where nobody else has room for
 * those that are to replace them, all workers of a host that is drained. The place is not kept meanwhile: whoever comes
 * first to a place comes first to this one too.
 */
export function yieldPlaces(
  claim: Claim & { readonly yields: YieldingPlaces },
  unplaced: UnplacedTally | null,
  room: Room,
): Yielded {
  if (unplaced === null) return { leaving: [], unplaced };
  const { before, staying, yields } = claim;
  // Whom the plan names here it tells nothing else; paused workers are among them.
  const old = yields.yielding.flatMap((id) => before.filter((worker) => worker.id === id));
  const isQuota = unplaced.why.reason === 'account-quota';
  const successful = old.filter((worker) => isQuota || isRoomInPlaceOf(worker, claim, room));
  const replaced = successful.slice(0, Math.min(yields.mayYield, unplaced.count));
  const count = unplaced.count - replaced.length;
  const isOnDrained = ({ hostId }: Worker): boolean => room.hosts.get(hostId)?.intent === 'draining';
  const moved = count === 0 ? [] : staying.filter((worker) => isOnDrained(worker) && !replaced.includes(worker));
  const leave = ({ hostId, id: workerId, ...worker }: Worker): FleetOperation => ({
    ...{ kind: 'drain-worker', workerId, hostId, leavesAfterIdleMs: null },
    reason: worker.release < claim.endpoint.release ? 'stale-release' : 'host-draining',
  });
  return {
    leaving: [...replaced, ...moved].map(leave),
    unplaced: count === 0 ? null : { ...unplaced, count },
  };
}

function isRoomInPlaceOf({ hostId, resources }: Worker, { request }: Claim, { loads, nowMs }: Room): boolean {
  const load = loads.get(hostId);
  if (load === undefined) return false;
  const taken = load.taken.filter((each) => each !== resources);
  return placeWorker(request, [{ host: load.host, taken }], nowMs).kind === 'placed';
}
