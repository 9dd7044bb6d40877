import type { HostBody, HostWorkerBody } from '@berth/contracts/http';
import { isHostLive, workerStatus, type Worker } from '@berth/domain';
import type { HostRecord } from '../persistence/index.js';

export const toHostBody = (host: HostRecord, nowMs: number): HostBody => ({
  id: host.id,
  name: host.name,
  dataCenterId: host.dataCenterId,
  labels: host.labels,
  state: host.intent,
  isOnline: isHostLive(host, nowMs),
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
