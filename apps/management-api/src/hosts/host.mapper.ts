import type { HostBody, HostWorkerBody } from '@berth/contracts/http';
import { isHostLive, workerStatus, type HostId, type Worker } from '@berth/domain';
import type { HostRecord } from '../persistence/index.js';

/** @param suspects why hosts are, where they are */
export const toHostBody = (host: HostRecord, suspects: ReadonlyMap<HostId, string>, nowMs: number): HostBody => ({
  id: host.id,
  name: host.name,
  dataCenterId: host.dataCenterId,
  labels: host.labels,
  state: host.intent,
  isOnline: isHostLive(host, nowMs),
  suspectBecause: suspects.get(host.id) ?? null,
  inventory: host.inventory,
  lastSeenAt: host.lastSeenAtMs === null ? null : new Date(host.lastSeenAtMs).toISOString(),
  createdAt: new Date(host.createdAtMs).toISOString(),
});

export const toHostWorkerBody = ({ endpointId, id, observed }: Worker): HostWorkerBody => ({
  id,
  endpointId,
  status: workerStatus(observed),
  reason: observed?.reason ?? 'not reported yet',
});
