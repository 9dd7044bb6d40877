import type { Host } from './host.js';

/** A host whose agent has been silent for this long gets no new worker. Heartbeats are far more frequent. */
export const HOST_PLACEABLE_MS = 15_000;

/** A host whose agent has been silent for this long is lost: its workers are replaced elsewhere. */
export const HOST_LOST_MS = 30_000;

/** True while the host is heard of often enough to be given work. */
export const isHostLive = (host: Pick<Host, 'lastSeenAtMs'>, nowMs: number): boolean =>
  host.lastSeenAtMs !== null && nowMs - host.lastSeenAtMs < HOST_PLACEABLE_MS;

/** True while new workers may come to the host. */
export const isHostPlaceable = (host: Pick<Host, 'intent' | 'lastSeenAtMs'>, nowMs: number): boolean =>
  host.intent === 'ready' && isHostLive(host, nowMs);

/**
 * True when the host has been silent for the whole window *while somebody listened*. A loop that was away has heard
 * nobody, so its own silence must not cost every host its workers.
 *
 * @param observingSinceMs since when heartbeats have been received without a break
 */
export const isHostLost = (host: Pick<Host, 'lastSeenAtMs'>, observingSinceMs: number, nowMs: number): boolean =>
  nowMs - Math.max(host.lastSeenAtMs ?? observingSinceMs, observingSinceMs) >= HOST_LOST_MS;
