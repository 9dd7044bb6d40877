import type { Host } from '../host/index.js';
import type { EndpointId } from '../ids.js';
import type { ScaleMemory } from '../scaling/index.js';

/** What one plan hands on to the next. A new leader begins without: that costs a while without scale-down and losses. */
export interface FleetMemory {
  /**
   * Since when heartbeats come in without a break. While the process that receives them is away all hosts look silent; none
   * of them may be called lost for that.
   */
  readonly observingSinceMs: number;
  readonly lastLookMs: number;
  /** Of the endpoints that were looked at last. */
  readonly scaling: ReadonlyMap<EndpointId, ScaleMemory>;
}

export const newFleetMemory = (nowMs: number): FleetMemory => ({
  observingSinceMs: nowMs,
  lastLookMs: nowMs,
  scaling: new Map(),
});

/** Longer than this without any heartbeat means that the listener is away, rather than that every host died at once. */
const SILENCE_MAX_MS = 12_000;

/**
 * Since when heartbeats come in without a break, now that the hosts are looked at again. A pause between two looks is a
 * break too: where the database was away for a while, the first host that is recorded again must not make all the others
 * look lost.
 */
export function observingSinceMs(
  memory: Pick<FleetMemory, 'observingSinceMs' | 'lastLookMs'>,
  hosts: Iterable<Pick<Host, 'lastSeenAtMs'>>,
  nowMs: number,
): number {
  const lastHeardMs = Math.max(0, ...Array.from(hosts, ({ lastSeenAtMs }) => lastSeenAtMs ?? 0));
  const hasHeard = nowMs - lastHeardMs <= SILENCE_MAX_MS;
  const hasLooked = nowMs - memory.lastLookMs <= SILENCE_MAX_MS;
  return hasHeard && hasLooked ? memory.observingSinceMs : nowMs;
}
