import type { AccountId, EndpointId, EndpointType, HostId, WorkerId, WorkerPhase } from '@berth/domain';

/** What the routers know of an endpoint. Key in bucket `endpoints`: the endpoint id. */
export interface EndpointSnapshot {
  readonly id: EndpointId;
  readonly accountId: AccountId;
  readonly type: EndpointType;
  readonly executionTimeoutMs: number;
  readonly workersMax: number;
  /** True from the moment of deletion: every path answers 404. */
  readonly isDeleted: boolean;
  /** When it was deleted: the tombstone stays for as long as a job of the endpoint could. */
  readonly deletedAtMs?: number;
}

/** What any process knows of an API key. Key in bucket `api-keys`: the key's public prefix. */
export interface ApiKeySnapshot {
  readonly id: string;
  readonly accountId: AccountId;
  readonly prefix: string;
  /** Lower-case hex SHA-256 of the whole key. */
  readonly hash: string;
  readonly scopes: readonly string[];
  /** Null: every endpoint of the account. */
  readonly endpointIds: readonly EndpointId[] | null;
  readonly expiresAtMs: number | null;
}

/** Key in bucket `hosts`: the host id. A host that is not there may do nothing. */
export interface HostSnapshot {
  readonly id: HostId;
  readonly isDraining: boolean;
}

/** The workers of one endpoint. Key in bucket `assignments`: the endpoint id. Absent: none. */
export interface AssignmentSnapshot {
  readonly endpointId: EndpointId;
  readonly workers: readonly {
    readonly id: WorkerId;
    readonly hostId: HostId;
    readonly phase: WorkerPhase;
    readonly isDraining: boolean;
  }[];
}

export const BUCKETS = {
  endpoints: 'endpoints',
  apiKeys: 'api-keys',
  hosts: 'hosts',
  assignments: 'assignments',
} as const;
