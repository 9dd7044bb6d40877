import type { Host } from '../../host/index.js';
import type { HostId } from '../../ids.js';
import { imageAheadOn, isHeldBack, withPullAhead, type ReleaseStarts, type Worker } from '../../worker/index.js';
import type { FleetEndpoint } from '../fleet.js';

/** The hosts that were looked at, and when. */
interface Look {
  readonly hosts: ReadonlyMap<HostId, Host>;
  readonly nowMs: number;
}

interface StartingEndpoint {
  readonly endpoint: FleetEndpoint;
  readonly starts: ReleaseStarts;
}

/** The image of the endpoint's latest release is still on its way to the worker's host (ADR 0064). */
export const isHeld = (worker: Worker, { endpoint, starts }: StartingEndpoint, look: Look): boolean =>
  isHeldBack(aheadOf(worker, endpoint, look), starts, look.nowMs);

/**
 * The starts with what is to be said of the image.
 *
 * @param worker that makes room for the first of the release, or would; undefined: none
 */
export function withAhead(
  worker: Worker | undefined,
  { endpoint, starts }: StartingEndpoint,
  look: Look,
): ReleaseStarts {
  if (worker === undefined || starts.hasBeenUp) return starts;
  const state = aheadOf(worker, endpoint, look);
  const isHeldNow = isHeldBack(state, starts, look.nowMs);
  return withPullAhead(starts, { hostId: worker.hostId, isHeld: isHeldNow, state }, look.nowMs);
}

const aheadOf = ({ hostId }: Worker, { id, release, spec }: FleetEndpoint, { hosts }: Look) =>
  imageAheadOn(hosts.get(hostId) ?? null, { endpointId: id, release }, spec.container.image);
