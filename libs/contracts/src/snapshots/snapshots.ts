import type {
  AccountId,
  EndpointId,
  EndpointOutlook,
  EndpointType,
  HostId,
  LimitOverrides,
  LoadBalancerAccess,
  WorkerId,
  WorkerPhase,
  WorkerPorts,
} from '@berth/domain';

/** An endpoint as the routers know it. Key in bucket `endpoints`: the endpoint id. */
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
  /**
   * The limits of the account that an operator has set, for `effectiveLimits`; an absent one is at its default. Absent
   * altogether: all are.
   */
  readonly limits?: LimitOverrides;
  /** Of a load-balanced endpoint: what needs no API key. Absent: everything needs one. */
  readonly access?: LoadBalancerAccess;
  /** Of a load-balanced endpoint: the path of its health checks. Absent where the writer is of a version that did not say it. */
  readonly healthCheckPath?: string;
}

/** An API key as every process knows it. Key in bucket `api-keys`: the key's public prefix. */
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

/**
 * Host and worker are its whole address: agents dial out only, so whoever has a request for a worker gives it to the agent
 * of its host by the way that this agent opened. The ports are absent of a worker that listens for nothing, and while its
 * agent has not said them: they are in its variables, which the control loops do not see, or the agent chooses them.
 */
export interface AssignedWorker extends Partial<WorkerPorts> {
  readonly id: WorkerId;
  readonly hostId: HostId;
  /** Also its health, of which its agent is the judge: it takes requests while it is `idle` or `busy`, and in no other. */
  readonly phase: WorkerPhase;
  /** It does not start because its host has no room for it: it is `THROTTLED`. Absent: it is not that. */
  readonly lacksRoom?: boolean;
  /** It ends what it has and gets nothing new. */
  readonly isDraining: boolean;
  /** It is frozen, or is to be: `idle` for whoever counts, and nobody who takes a job at once. Absent: it is not. */
  readonly isPaused?: boolean;
}

/** The workers of one endpoint. Key in bucket `assignments`: the endpoint id. Absent: none, and none is wanted. */
export interface AssignmentSnapshot {
  readonly endpointId: EndpointId;
  readonly workers: readonly AssignedWorker[];
  /**
   * Requests that each worker of a load-balanced endpoint may have at one time. Absent of a queue, whose workers say with
   * each wish how many jobs they would take, and where the writer is of a version that did not say it.
   */
  readonly slotsPerWorker?: number;
  /** The control plane's expectation of the workers; absent where it has told none. */
  readonly outlook?: EndpointOutlook;
}

/**
 * The secrets that sign an endpoint's webhooks, sealed with the operator's key. Key in bucket `webhook-secrets`: the
 * endpoint id. Newest first; absent: none was made yet.
 */
export interface WebhookSecretsSnapshot {
  readonly endpointId: EndpointId;
  readonly secrets: readonly {
    readonly id: string;
    /** Opens with `webhookSecretContext`. */
    readonly sealed: string;
    /** It signs no longer from then on; null: it is the present one. */
    readonly expiresAtMs: number | null;
  }[];
}

/** The context to which a sealed webhook secret is bound: it opens nowhere else. */
export const webhookSecretContext = (endpointId: EndpointId, id: string): string =>
  `webhook-secret:${endpointId}:${id}`;

export const BUCKETS = {
  endpoints: 'endpoints',
  apiKeys: 'api-keys',
  hosts: 'hosts',
  assignments: 'assignments',
  webhookSecrets: 'webhook-secrets',
} as const;
