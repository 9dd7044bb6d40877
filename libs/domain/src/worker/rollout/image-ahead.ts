import type { Host } from '../../host/index.js';
import type { HostId } from '../../ids.js';
import type { HostedWorker } from '../hosted-worker.js';
import type { ReleaseStarts } from './release-starts.js';

/** Whether the image of a release is on a host. `failed`: its host has given up, so nobody waits for it. */
type AheadState = { readonly kind: 'ready' | 'pending' } | { readonly kind: 'failed'; readonly reason: string };

/** So long a release waits for its image at most: what the old workers serve meanwhile costs nobody anything. */
const PULL_AHEAD_MAX_MS = 15 * 60_000;

/** A host that prepares nothing ahead is not waited for. */
export function imageAheadOn(
  host: Partial<Pick<Host, 'inventory'>> | null,
  release: Pick<HostedWorker['worker'], 'endpointId' | 'release'>,
  image: string,
): AheadState {
  const { images = [], imagesAhead } = host?.inventory ?? {};
  const isHere = [image, `${image}:latest`].some((name) => images.includes(name));
  if (imagesAhead === undefined || isHere) return { kind: 'ready' };
  const told = imagesAhead.find((each) => each.endpointId === release.endpointId && each.release === release.release);
  return told?.state === 'failed' ? { kind: 'failed', reason: told.reason } : { kind: told?.state ?? 'pending' };
}

/** True where the first worker of a release still waits for the image to come to the host. */
export const isHeldBack = (state: AheadState, starts: ReleaseStarts, nowMs: number): boolean =>
  state.kind === 'pending' && nowMs - (starts.pullAhead?.sinceMs ?? nowMs) < PULL_AHEAD_MAX_MS;

/** The starts with what is to be said of the worker that would give its place up. */
export function withPullAhead(
  starts: ReleaseStarts,
  { hostId, isHeld, state }: { readonly hostId: HostId; readonly isHeld: boolean; readonly state: AheadState },
  nowMs: number,
): ReleaseStarts {
  const detail = describe(state, hostId, isHeld);
  const { pullAhead: before, ...others } = starts;
  if (detail === null) return others;
  return { ...others, pullAhead: { sinceMs: before?.sinceMs ?? nowMs, hostId, detail } };
}

function describe(state: AheadState, hostId: HostId, isHeld: boolean): string | null {
  if (state.kind === 'ready') return null;
  if (isHeld) return `the image is brought to host ${hostId} before a worker of the older release leaves there`;
  const why = state.kind === 'failed' ? state.reason : 'it took too long';
  return `the image could not be brought to host ${hostId} ahead, and a worker left there all the same: ${why}`;
}
