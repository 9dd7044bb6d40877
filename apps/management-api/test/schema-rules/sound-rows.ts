import { INVENTORY, SPEC, observed } from '../fleet-bench.js';

/** A row as its columns; what is left out takes the column's default. */
export type Row = Readonly<Record<string, unknown>>;

const HASH = 'a'.repeat(64);
const OTHER_HASH = 'b'.repeat(64);
const SEALED = 'v1.00000000.sealed';

/** Of the account `mine`, whose rows refer to one another. */
const MINE = { account_id: 'mine' } as const;
const OTHER = { account_id: 'other' } as const;

const endpoint = (id: string, owner: Row): Row => ({ id, ...owner, spec: SPEC, release: 1 });
const release = (endpointId: string): Row => ({ endpoint_id: endpointId, release: 1, container: SPEC.container });
const registry = (id: string, owner: Row): Row => ({ id, ...owner, name: 'registry', sealed_credentials: SEALED });
const volume = (id: string, owner: Row): Row => ({
  id,
  ...owner,
  name: 'volume',
  size_gb: 10,
  data_center_id: 'dc',
  type: 'STANDARD',
});
const cluster = (id: string, owner: Row): Row => ({
  id,
  ...owner,
  name: 'cluster',
  type: 'SLURM',
  gpu_type_id: 'gpu',
  gpu_count_per_pod: 1,
  pod_count: 2,
});

/** One row of each table that every rule allows. */
export const SOUND = {
  accounts: { id: 'mine', name: 'mine', limits: { endpoints: 1, payloadBytesPerEndpoint: 2 ** 40 } },
  api_keys: { id: 'key', ...MINE, name: 'key', prefix: 'prefix12', hash: HASH, scopes: ['jobs:read'] },
  registries: registry('registry', MINE),
  network_volumes: volume('volume', MINE),
  running_catalogs: { process: 'process', app: 'controllers', digest: HASH, file: null },
  deleted_volumes: { id: 'deleted-volume', account_id: 'account', storage_id: 'storage' },
  endpoints: endpoint('endpoint', MINE),
  releases: release('endpoint'),
  webhook_secrets: { endpoint_id: 'endpoint', ordinal: 1, sealed_secret: SEALED },
  endpoint_volumes: { ...MINE, endpoint_id: 'endpoint', volume_id: 'volume' },
  hosts: { id: 'host', name: 'host', data_center_id: 'dc', inventory: INVENTORY },
  removed_nodes: { host_id: 'removed', name: 'removed', data_center_id: 'dc', removed_at: '2026-01-01' },
  seeded_keys: { hash: HASH, seeded_at: '2026-01-01' },
  join_tokens: { host_id: 'host', hash: HASH, expires_at: '2030-01-01' },
  workers: {
    id: 'worker',
    endpoint_id: 'endpoint',
    host_id: 'host',
    release: 1,
    intent: 'running',
    resources: { vcpus: 2, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 },
    observed: observed('worker', 'idle', { endpointId: 'endpoint' as never }),
  },
  worker_runs: {
    ...{ worker_id: 'worker', ...MINE, endpoint_id: 'endpoint', host_id: 'host', gpu_type_id: 'gpu', gpu_count: 1 },
    ...{ use: 'running', counted_until: '2026-01-02' },
  },
  usage_hours: {
    ...{ ...MINE, hour: '2026-01-01T10:00:00Z', endpoint_id: 'endpoint', gpu_type_id: '' },
    ...{ worker_ms: 1, gpu_ms: 0, paused_worker_ms: 0, paused_gpu_ms: 0 },
  },
  scaling_decisions: {
    ...{ endpoint_id: 'endpoint', ordinal: 1, at: '2026-01-01', desired_before: 0, desired: 1, reason: 'demand' },
    ...{ detail: '', inputs: {}, outcome: {} },
  },
  departed_workers: { worker_id: 'departed', endpoint_id: 'endpoint', host_id: 'host' },
  endpoint_scaling: { endpoint_id: 'endpoint', desired: 1, reason: 'demand', detail: '', decided_at: '2026-01-01' },
  leader_leases: { name: 'loops', holder: 'process', term: 1, expires_at: '2030-01-01' },
  rate_windows: { ...MINE, at: '2026-01-01', minute_used: 0, hour_used: 0, day_used: 0, is_admitted: true },
  idempotency_keys: { ...MINE, route: 'POST /v2/serverless', key: 'key', expires_at: '2030-01-01' },
  templates: {
    id: 'template',
    ...MINE,
    name: 'template',
    image: 'local/echo',
    args: '',
    env: {},
    ports: ['80/http'],
    registry_id: 'registry',
    is_serverless: true,
    is_public: false,
    source: 'community',
    category: 'CPU',
    starts_ssh: false,
    starts_jupyter: false,
    allowed_cuda_versions: ['12.4'],
  },
  clusters: cluster('cluster', MINE),
  pods: {
    id: 'pod',
    ...MINE,
    name: 'pod',
    image: 'local/echo',
    args: '',
    disk_gb: 10,
    env: {},
    ports: ['80/http'],
    registry_id: 'registry',
    gpu_type_id: 'gpu',
    gpu_count: 1,
    cloud: 'SECURE',
    status: 'RUNNING',
    reason: '',
    cost_usd_per_hour: 1,
    is_locked: false,
    cluster_id: 'cluster',
    cluster_rank: 0,
  },
  pod_volumes: { ...MINE, pod_id: 'pod', volume_id: 'volume', path: '/data' },
  audit_entries: {
    at: '2026-01-01',
    ...MINE,
    api_key_id: 'key',
    action: 'endpoint.created',
    resource_id: 'endpoint',
    diff: [],
  },
  job_history: {
    ...MINE,
    endpoint_id: 'endpoint',
    job_id: 'job',
    created_at: '2026-01-01',
    status: 'COMPLETED',
    origin: 'run',
    started_at: '2026-01-01',
    ended_at: '2026-01-01',
    delay_ms: 0,
    execution_ms: 0,
    host_id: 'host',
    worker_id: 'worker',
    attempts: 1,
    attempt_list: [],
    attempt: 1,
  },
  snapshot_outbox: { position: 1, bucket: 'endpoints', key: 'endpoint', changed_at: '2026-01-01' },
  job_history_shards: { shard: 0, stream_created: '2026-01-01', sequence: 0, complete_until: '2026-01-01' },
} as const satisfies Readonly<Record<string, Row>>;

export type Table = keyof typeof SOUND;

/** Rows of another account, which those above must not refer to. */
export const FOREIGN: readonly (readonly [Table, Row])[] = [
  ['accounts', { id: 'other', name: 'other' }],
  ['api_keys', { ...SOUND.api_keys, ...OTHER, id: 'foreign-key', prefix: 'foreign1', hash: OTHER_HASH }],
  ['registries', registry('foreign-registry', OTHER)],
  ['network_volumes', volume('foreign-volume', OTHER)],
  ['endpoints', endpoint('foreign-endpoint', OTHER)],
  ['releases', release('foreign-endpoint')],
  ['clusters', cluster('foreign-cluster', OTHER)],
];
