import { imageAheadOn, isHeldBack, withPullAhead, type ReleaseStarts, type Worker } from '../../worker/index.js';
import type { FleetEndpoint } from '../fleet.js';
import type { Room } from '../plan-staffing.js';

interface StartingEndpoint {
  readonly endpoint: FleetEndpoint;
  readonly starts: ReleaseStarts;
}

/** The image of the endpoint's latest release is still on its way to the worker's host (ADR 0064). */
export const isHeld = (worker: Worker, { endpoint, starts }: StartingEndpoint, room: Room): boolean =>
  isHeldBack(aheadOf(worker, endpoint, room), starts, room.nowMs);

/**
 * The starts with what is to be said of the image.
 *
 * @param worker that makes room for the first of the release, or would; undefined: none
 */
export function withAhead(
  worker: Worker | undefined,
  { endpoint, starts }: StartingEndpoint,
  room: Room,
): ReleaseStarts {
  if (worker === undefined || starts.hasBeenUp) return starts;
  const state = aheadOf(worker, endpoint, room);
  const isHeldNow = isHeldBack(state, starts, room.nowMs);
  return withPullAhead(starts, { hostId: worker.hostId, isHeld: isHeldNow, state }, room.nowMs);
}

const aheadOf = ({ hostId }: Worker, { id, release, spec }: FleetEndpoint, { hosts }: Room) =>
  imageAheadOn(hosts.get(hostId) ?? null, { endpointId: id, release }, spec.container.image);
