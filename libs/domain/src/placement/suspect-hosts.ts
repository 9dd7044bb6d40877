import type { HostId } from '../ids.js';
import type { Worker } from '../worker/index.js';
import { failedHosts } from './decide-move.js';

/** Endpoints whose workers fail on one host and nowhere else: from so many on it is the host that is wrong. */
const SUSPECT_AFTER_ENDPOINTS = 3;

/**
 * Hosts on which workers of several endpoints fail again and again that fail nowhere else, each with the reason as a sentence
 * without its full stop. What fails on two hosts speaks against neither: there it is the release that is wrong. Workers
 * that were moved away still speak against the host that they left, for as long as they are there.
 *
 * @param workers of all endpoints; those that neither fail nor were moved may be left out
 */
export function suspectHosts(workers: readonly Worker[]): ReadonlyMap<HostId, string> {
  const releases = Map.groupBy(workers.filter(isWitness), ({ endpointId, release }) => `${endpointId} ${release}`);
  const endpoints = new Map<HostId, Set<string>>();
  for (const siblings of releases.values()) {
    const [hostId, another] = failedHosts(siblings);
    const [witness] = siblings;
    if (hostId === undefined || another !== undefined || witness === undefined) continue;
    endpoints.set(hostId, (endpoints.get(hostId) ?? new Set<string>()).add(witness.endpointId));
  }
  return new Map(
    [...endpoints]
      .filter(([, failing]) => failing.size >= SUSPECT_AFTER_ENDPOINTS)
      .map(([hostId, { size }]) => [hostId, `workers of ${size} endpoints fail on it, and on no other host`]),
  );
}

const isWitness = ({ failedOn = [], observed }: Worker): boolean =>
  failedOn.length > 0 || (observed?.failedStarts ?? 0) > 0;
