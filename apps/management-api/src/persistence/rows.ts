import type { ApiKeySnapshot } from '@berth/contracts';
import type { AccountId, Endpoint, EndpointId, Host, HostId, Worker, WorkerId } from '@berth/domain';
import type { ApiKeyEntity, EndpointEntity, HostEntity, WorkerEntity } from './entities/index.js';

/** A key as its account sees it: the snapshot of the others, with a name and a date. */
export interface ApiKeyRecord extends ApiKeySnapshot {
  readonly name: string;
  readonly createdAtMs: number;
}

export interface HostRecord extends Host {
  readonly createdAtMs: number;
}

/** Without its environment variables, which are sealed: what decides about workers has no use for them, and no key. */
export const toEndpoint = (row: EndpointEntity): Endpoint => ({
  id: row.id as EndpointId,
  accountId: row.accountId as AccountId,
  spec: { ...row.spec, container: { ...row.spec.container, env: {} } },
  release: row.release,
  version: row.version,
  createdAtMs: row.createdAt.getTime(),
});

export const toApiKeySnapshot = (row: ApiKeyEntity): ApiKeySnapshot => ({
  id: row.id,
  accountId: row.accountId as AccountId,
  prefix: row.prefix,
  hash: row.hash,
  scopes: row.scopes,
  endpointIds: row.endpointIds as EndpointId[] | null,
  expiresAtMs: row.expiresAt?.getTime() ?? null,
});

export const toApiKeyRecord = (row: ApiKeyEntity): ApiKeyRecord => ({
  ...toApiKeySnapshot(row),
  name: row.name,
  createdAtMs: row.createdAt.getTime(),
});

export const toHostRecord = (row: HostEntity): HostRecord => ({
  id: row.id as HostId,
  name: row.name,
  dataCenterId: row.dataCenterId,
  labels: row.labels,
  intent: row.intent,
  inventory: row.inventory,
  lastSeenAtMs: row.lastSeenAt?.getTime() ?? null,
  createdAtMs: row.createdAt.getTime(),
});

export const toWorker = (row: WorkerEntity): Worker => ({
  id: row.id as WorkerId,
  endpointId: row.endpointId as EndpointId,
  hostId: row.hostId as HostId,
  release: row.release,
  intent: row.intent,
  createdAtMs: row.createdAt.getTime(),
  resources: row.resources,
  observed: row.observed,
  ...(row.leavesAfterIdleMs === null ? {} : { leavesAfterIdleMs: row.leavesAfterIdleMs }),
  ...(row.failedOn.length === 0 ? {} : { failedOn: row.failedOn as HostId[] }),
  ...(row.staysBecause === null ? {} : { staysBecause: row.staysBecause }),
  ...(row.volumeId === null ? {} : { volumeId: row.volumeId }),
  ...(row.restarts === 0 ? {} : { restarts: row.restarts }),
});

export const apiKeyRow = (key: ApiKeyRecord): ApiKeyEntity => ({
  id: key.id,
  accountId: key.accountId,
  name: key.name,
  prefix: key.prefix,
  hash: key.hash,
  scopes: [...key.scopes],
  endpointIds: key.endpointIds === null ? null : [...key.endpointIds],
  expiresAt: key.expiresAtMs === null ? null : new Date(key.expiresAtMs),
  createdAt: new Date(key.createdAtMs),
});
