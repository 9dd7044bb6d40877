import type { HostBody, HostWorkerBody } from '@berth/contracts/http';
import { inWordsOf, isHostLive, workerStatus, type HardwareCatalog, type HostId, type Worker } from '@berth/domain';
import type { HostRecord } from '../persistence/index.js';

interface Telling {
  readonly catalog: HardwareCatalog;
  /** Why hosts are suspect, where they are. */
  readonly suspects: ReadonlyMap<HostId, string>;
  readonly nowMs: number;
}

export const toHostBody = (host: HostRecord, { catalog, nowMs, suspects }: Telling): HostBody => ({
  id: host.id,
  name: host.name,
  dataCenterId: host.dataCenterId,
  labels: host.labels,
  state: host.intent,
  isOnline: isHostLive(host, nowMs),
  suspectBecause: suspects.get(host.id) ?? null,
  inventory: host.inventory === null ? null : inWordsOf(catalog, host.inventory),
  lastSeenAt: host.lastSeenAtMs === null ? null : new Date(host.lastSeenAtMs).toISOString(),
  createdAt: new Date(host.createdAtMs).toISOString(),
});

export const toHostWorkerBody = ({ endpointId, id, observed }: Worker): HostWorkerBody => ({
  id,
  endpointId,
  status: workerStatus(observed),
  reason: observed?.reason ?? 'not reported yet',
});
