import {
  ACCOUNT_LIMIT_NAMES,
  WORKER_PHASES,
  type AccountLimitName,
  type EndpointOutlook,
  type EndpointType,
  type LimitOverrides,
  type LoadBalancerAccess,
} from '@berth/domain';
import {
  count,
  flag,
  id,
  instant,
  listOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  port,
  text,
  type Shape,
} from '@berth/domain/shape';
import type {
  ApiKeySnapshot,
  AssignedWorker,
  AssignmentSnapshot,
  EndpointSnapshot,
  HostSnapshot,
  WebhookSecretsSnapshot,
} from './snapshots.js';

const ASSIGNED_WORKERS_MAX = 10_000;
const SCOPES_MAX = 100;
const ENDPOINTS_MAX = 10_000;
const SECRETS_MAX = 100;
/** More than an outlook ever tells of workers or hosts. */
const OUTLOOK_LIST_MAX = 100;
const SEALED_MAX_CHARACTERS = 10_000;

const ENDPOINT_TYPES: readonly EndpointType[] = ['QUEUE', 'LOAD_BALANCER'];
type ComingWorker = EndpointOutlook['coming'][number];
type UnplacedWorkers = NonNullable<EndpointOutlook['unplaced']>;

const STAGES = Object.keys({
  initialising: true,
  starting: true,
  preparing: true,
  placed: true,
  replaced: true,
  delayed: true,
  unhealthy: true,
} satisfies Record<ComingWorker['stage'], true>);
const COMING_REASONS: readonly ComingWorker['reason'][] = ['worker-starting', 'throttled', 'image-error'];

/** One kind of snapshot: what it looks like, and under which key alone it may lie. */
export interface SnapshotShape<Value> {
  readonly shape: Shape;
  readonly keyOf: (value: Value) => string;
}

const limits = objectOf<LimitOverrides>(
  Object.fromEntries(ACCOUNT_LIMIT_NAMES.map((name) => [name, optional(count)])) as Record<AccountLimitName, Shape>,
);

export const endpointSnapshotShape: SnapshotShape<EndpointSnapshot> = {
  shape: objectOf<EndpointSnapshot>({
    id,
    accountId: text(),
    type: oneOf(ENDPOINT_TYPES),
    executionTimeoutMs: count,
    workersMax: count,
    isDeleted: flag,
    deletedAtMs: optional(instant),
    limits: optional(limits),
    access: optional(objectOf<LoadBalancerAccess>({ isPublic: flag, allowsPreflights: flag })),
    healthCheckPath: optional(text()),
  }),
  keyOf: (value) => value.id,
};

export const apiKeySnapshotShape: SnapshotShape<ApiKeySnapshot> = {
  shape: objectOf<ApiKeySnapshot>({
    id: text(),
    accountId: text(),
    prefix: id,
    hash: text(),
    scopes: listOf(text(), SCOPES_MAX),
    endpointIds: orNull(listOf(text(), ENDPOINTS_MAX)),
    expiresAtMs: orNull(instant),
  }),
  keyOf: ({ prefix }) => prefix,
};

export const hostSnapshotShape: SnapshotShape<HostSnapshot> = {
  shape: objectOf<HostSnapshot>({ id, isDraining: flag }),
  keyOf: (value) => value.id,
};

const coming = objectOf<ComingWorker>({
  id: text(),
  stage: oneOf(STAGES),
  reason: oneOf(COMING_REASONS),
  detail: text(),
  nextStartAtMs: orNull(instant),
  sinceMs: instant,
  toldAtMs: instant,
});

const unplaced = objectOf<UnplacedWorkers>({
  count,
  reason: text(),
  detail: text(),
  sinceMs: instant,
  hosts: listOf(
    objectOf<UnplacedWorkers['hosts'][number]>({ id: text(), reason: text(), detail: text() }),
    OUTLOOK_LIST_MAX,
  ),
});

const outlook = objectOf<EndpointOutlook>({
  desired: count,
  scaling: objectOf<EndpointOutlook['scaling']>({ reason: text(), sinceMs: instant }),
  coming: listOf(coming, OUTLOOK_LIST_MAX),
  unplaced: orNull(unplaced),
  crashLoop: optional(objectOf<NonNullable<EndpointOutlook['crashLoop']>>({ detail: text(), sinceMs: instant })),
});

export const assignmentSnapshotShape: SnapshotShape<AssignmentSnapshot> = {
  shape: objectOf<AssignmentSnapshot>({
    endpointId: id,
    workers: listOf(
      objectOf<AssignedWorker>({
        id: text(),
        hostId: text(),
        phase: oneOf(WORKER_PHASES),
        isDraining: flag,
        isPaused: optional(flag),
        lacksRoom: optional(flag),
        port: optional(port),
        healthPort: optional(port),
      }),
      ASSIGNED_WORKERS_MAX,
    ),
    slotsPerWorker: optional(count),
    outlook: optional(outlook),
  }),
  keyOf: ({ endpointId }) => endpointId,
};

export const webhookSecretsSnapshotShape: SnapshotShape<WebhookSecretsSnapshot> = {
  shape: objectOf<WebhookSecretsSnapshot>({
    endpointId: id,
    secrets: listOf(
      objectOf<WebhookSecretsSnapshot['secrets'][number]>({
        id: text(),
        sealed: text(SEALED_MAX_CHARACTERS),
        expiresAtMs: orNull(instant),
      }),
      SECRETS_MAX,
    ),
  }),
  keyOf: ({ endpointId }) => endpointId,
};
