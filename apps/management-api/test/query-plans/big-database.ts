import type { AccountId, EndpointId, HostId } from '@berth/domain';
import type { DataSource } from 'typeorm';
import { Database } from '../../src/persistence/database.js';
import { JobHistoryPartitions } from '../../src/job-history/job-history-partitions.js';
import { INVENTORY, SPEC } from '../fleet-bench.js';

const ACCOUNTS = 50;
const ENDPOINTS = 10_000;
const RELEASES_EACH = 10;
const USAGE_HOURS_EACH = 168;
const DECISIONS_EACH = 100;
const HOSTS = 500;
const WORKERS = 20_000;
const ENDPOINTS_WITH_WORKERS = 500;
const KEYS = 10_000;
const AUDIT_ENTRIES = 1_000_000;
const HISTORY_ROWS = 1_000_000;
const HISTORY_DAYS = 30;
const RESOURCES_EACH = 10_000;
const IDEMPOTENCY_KEYS = 50_000;

/** Owns half of everything; the other accounts share the rest. */
export const GREAT_ACCOUNT = 'a1' as AccountId;
export const SMALL_ACCOUNT = 'a2' as AccountId;
/** Of the great account, with workers; its number is even and divides by `ENDPOINTS / ENDPOINTS_WITH_WORKERS`. */
export const GREAT_ENDPOINT = 'e40' as EndpointId;
/** Of the small account. */
export const SMALL_ENDPOINT = 'e1' as EndpointId;
export const HOST = 'h1' as HostId;

/** Tables of which no request and no pass may read all. */
export const BIG_TABLE_ROWS = 2_000;

/** Of row `i`: every second one is the great account's, so that no account's rows lie together by themselves. */
const OWNER = `CASE WHEN i % 2 = 0 THEN 'a1' ELSE 'a' || (2 + (i / 2) % ${String(ACCOUNTS - 1)}) END`;
const MADE = `timestamptz '2026-01-01' + i * interval '1 minute'`;
const HASH = `encode(sha256(i::text::bytea), 'hex')`;

const series = (rows: number): string => `FROM generate_series(1, ${String(rows)}) AS i`;

/** Jobs `n` of endpoints `i`: every fourth is of the great one, and each day has its share of all. */
const JOBS = `FROM (
  SELECT n, CASE WHEN n % 4 = 0 THEN 40 ELSE 1 + n % ${String(ENDPOINTS)} END AS i,
         now() - n * interval '${String(HISTORY_DAYS)} days' / ${String(HISTORY_ROWS)} AS at
    FROM generate_series(1, ${String(HISTORY_ROWS)}) AS n) AS jobs`;

/** What the rows of each table are made of; `$1` is its sample document, where there is one. */
const FILLS: readonly (readonly [statement: string, sample?: object])[] = [
  [`INSERT INTO accounts (id, name, created_at) SELECT 'a' || i, 'account', ${MADE} ${series(ACCOUNTS)}`],
  [
    `INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes, created_at)
     SELECT 'k' || i, ${OWNER}, 'key', 'prefix0' || i, ${HASH}, '{serverless:read}', ${MADE} ${series(KEYS)}`,
  ],
  [
    `INSERT INTO endpoints (id, account_id, spec, release, created_at, deleted_at)
     SELECT 'e' || i, ${OWNER}, jsonb_set($1::jsonb, '{workers,min}', to_jsonb((i % 100 = 0)::integer)),
            ${String(RELEASES_EACH)}, ${MADE}, CASE WHEN i % 500 = 3 THEN now() END ${series(ENDPOINTS)}`,
    SPEC,
  ],
  [
    `INSERT INTO releases (endpoint_id, release, container, created_at)
     SELECT 'e' || i, number, $1::jsonb, ${MADE} ${series(ENDPOINTS)}, generate_series(1, ${String(RELEASES_EACH)}) AS number`,
    SPEC.container,
  ],
  [
    `INSERT INTO webhook_secrets (endpoint_id, ordinal, sealed_secret, created_at)
     SELECT 'e' || i, 1, 'v1.00000000.sealed', ${MADE} ${series(ENDPOINTS)}`,
  ],
  [
    `INSERT INTO hosts (id, name, data_center_id, inventory, last_seen_at, created_at)
     SELECT 'h' || i, 'host', 'dc' || i % 5, $1::jsonb, now(), ${MADE} ${series(HOSTS)}`,
    INVENTORY,
  ],
  [
    `INSERT INTO join_tokens (host_id, hash, expires_at)
     SELECT 'h' || i, ${HASH}, now() + interval '1 hour' ${series(HOSTS)}`,
  ],
  [
    `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources, observed, created_at)
     SELECT 'w' || i, 'e' || (1 + i % ${String(ENDPOINTS_WITH_WORKERS)}) * ${String(ENDPOINTS / ENDPOINTS_WITH_WORKERS)},
            'h' || (1 + i % ${String(HOSTS)}), 1, 'running', '{"vcpus": 2, "memoryBytes": 1, "diskBytes": 1, "gpuCount": 0}',
            jsonb_set($1::jsonb, '{workerId}', to_jsonb('w' || i)), ${MADE} ${series(WORKERS)}`,
    { workerId: '', endpointId: '', release: 1, phase: 'idle', reason: '', runningJobs: 0, failedStarts: 0 },
  ],
  [
    `INSERT INTO departed_workers (worker_id, endpoint_id, host_id, departed_at)
     SELECT 'd' || i, 'e' || (1 + i % ${String(ENDPOINTS_WITH_WORKERS)}) * ${String(ENDPOINTS / ENDPOINTS_WITH_WORKERS)},
            'h' || (1 + i % ${String(HOSTS)}), ${MADE} ${series(10 * WORKERS)}`,
  ],
  [
    `INSERT INTO worker_runs (worker_id, account_id, endpoint_id, host_id, gpu_count, use, counted_until)
     SELECT w.id, e.account_id, w.endpoint_id, w.host_id, 0, 'running', now() - interval '15 seconds'
       FROM workers w JOIN endpoints e ON e.id = w.endpoint_id`,
  ],
  [
    `INSERT INTO usage_hours (account_id, hour, endpoint_id, gpu_type_id, worker_ms, gpu_ms, paused_worker_ms, paused_gpu_ms)
     SELECT e.account_id, date_trunc('hour', now(), 'UTC') - number * interval '1 hour', e.id, '', 1, 0, 0, 0
       FROM endpoints e, generate_series(1, ${String(USAGE_HOURS_EACH)}) AS number WHERE e.id LIKE 'e%00'`,
  ],
  [
    `INSERT INTO endpoint_scaling (endpoint_id, desired, reason, detail, decided_at)
     SELECT 'e' || i, (i % 20 = 0)::integer, 'demand', '1 queued', now() ${series(ENDPOINTS)}`,
  ],
  [
    `INSERT INTO scaling_decisions (endpoint_id, ordinal, at, desired_before, desired, reason, detail, inputs, outcome)
     SELECT 'e' || i, ordinal, now() - (i + ordinal) * interval '8 seconds', 0, 1, 'demand', '1 queued', '{}', '{}'
       FROM generate_series(10, ${String(ENDPOINTS)}, 10) AS i, generate_series(1, ${String(DECISIONS_EACH)}) AS ordinal`,
  ],
  [
    `INSERT INTO audit_entries (at, account_id, api_key_id, action, resource_id, diff)
     SELECT ${MADE}, ${OWNER}, 'k' || i % ${String(KEYS)}, 'endpoint.updated', 'e' || (1 + i % ${String(ENDPOINTS)}), $1::jsonb
       ${series(AUDIT_ENTRIES)}`,
    [{ field: 'workers.max', before: 1, after: 2 }],
  ],
  [
    `INSERT INTO registries (id, account_id, name, sealed_credentials, created_at)
     SELECT 'r' || i, ${OWNER}, 'registry', 'v1.00000000.sealed', ${MADE} ${series(RESOURCES_EACH)}`,
  ],
  [
    `INSERT INTO network_volumes (id, account_id, name, size_gb, data_center_id, type, created_at)
     SELECT 'v' || i, ${OWNER}, 'volume', 10, 'dc1', 'STANDARD', ${MADE} ${series(RESOURCES_EACH)}`,
  ],
  [
    `INSERT INTO templates (id, account_id, name, image, args, env, ports, registry_id, is_serverless, is_public, source,
                            category, starts_ssh, starts_jupyter, allowed_cuda_versions, created_at)
     SELECT 't' || i, ${OWNER}, 'template', 'local/echo', '', '{}', '{}', CASE WHEN i % 10 = 0 THEN 'r' || i END, true,
            i % 20 = 0, (ARRAY['official', 'verified', 'community'])[1 + i % 3], 'CPU', false, false, '{}', ${MADE}
       ${series(RESOURCES_EACH)}`,
  ],
  [
    `INSERT INTO endpoint_volumes (account_id, endpoint_id, volume_id)
     SELECT ${OWNER}, 'e' || i, 'v' || i ${series(ENDPOINTS)}`,
  ],
  [
    `INSERT INTO clusters (id, account_id, name, type, gpu_type_id, gpu_count_per_pod, pod_count, created_at)
     SELECT 'c' || i, ${OWNER}, 'cluster', 'TRAINING', 'gpu', 1, 2, ${MADE} ${series(RESOURCES_EACH)}`,
  ],
  [
    `INSERT INTO pods (id, account_id, name, image, args, disk_gb, env, ports, registry_id, gpu_type_id, gpu_count, cloud,
                       status, reason, cost_usd_per_hour, is_locked, created_at, cluster_id, cluster_rank)
     SELECT 'p' || i, ${OWNER}, 'pod', 'local/echo', '', 10, '{}', '{}', CASE WHEN i % 10 = 0 THEN 'r' || i END, 'gpu', 1,
            'SECURE', 'RUNNING', '', 0, false, ${MADE}, CASE WHEN i % 4 < 2 THEN 'c' || i END, CASE WHEN i % 4 < 2 THEN 0 END
       ${series(RESOURCES_EACH)}`,
  ],
  [
    `INSERT INTO pod_volumes (account_id, pod_id, volume_id, path)
     SELECT ${OWNER}, 'p' || i, 'v' || i, '/data' ${series(RESOURCES_EACH)}`,
  ],
  [
    `INSERT INTO idempotency_keys (account_id, route, key, status, sealed, expires_at)
     SELECT ${OWNER}, 'POST /v2/serverless', 'key-' || i, 201, 'v1.00000000.sealed',
            now() + i * interval '1 second' ${series(IDEMPOTENCY_KEYS)}`,
  ],
  [
    `INSERT INTO job_history (account_id, endpoint_id, job_id, created_at, status, origin, started_at, ended_at, delay_ms,
                              execution_ms, host_id, worker_id, attempts, attempt_list, error, attempt)
     SELECT ${OWNER}, 'e' || i, 'j' || n, at,
            CASE WHEN n % 1000 = 1 THEN 'IN_QUEUE' WHEN n % 50 = 2 THEN 'FAILED' ELSE 'COMPLETED' END, 'run', at,
            CASE WHEN n % 1000 <> 1 THEN at END, 10, 100, 'h1', 'w1', 1, $1::jsonb, CASE WHEN n % 50 = 2 THEN 'broken' END,
            1 ${JOBS}`,
    [
      {
        attempt: 1,
        hostId: 'h1',
        workerId: 'w1',
        startedAtMs: 1,
        endedAtMs: 2,
        outcome: 'COMPLETED',
        reason: '',
        logTail: [],
      },
    ],
  ],
  [
    `INSERT INTO rate_windows (account_id, at, minute_used, hour_used, day_used, is_admitted)
     SELECT 'a' || i, now(), 1, 1, 1, true ${series(ACCOUNTS)}`,
  ],
];

/** Far longer than any statement of the product may take. */
export const FILL_TIMEOUT_MS = 240_000;

/**
 * Fills a migrated database as a great installation would in years. The rows keep every check; foreign keys are not
 * looked up one by one, and the log is left out, for this is about plans.
 *
 * @param source with statements of at most `FILL_TIMEOUT_MS`
 */
export async function fillDatabase(source: DataSource): Promise<void> {
  await new JobHistoryPartitions(new Database(source)).keep({ past: HISTORY_DAYS, ahead: 1 });
  const runner = source.createQueryRunner();
  try {
    await runner.query(`SET session_replication_role = 'replica'`);
    await runner.query(`SET maintenance_work_mem = '256MB'`);
    const rebuild = await dropIndexes(runner, ['audit_entries', 'job_history']);
    await runner.query('ALTER TABLE job_history DROP CONSTRAINT job_history_pkey');
    for (const [statement, sample] of FILLS) {
      await runner.query(statement, sample === undefined ? [] : [JSON.stringify(sample)]);
    }
    const key = 'PRIMARY KEY (endpoint_id, job_id, created_at)';
    await runner.query(`ALTER TABLE job_history ADD CONSTRAINT job_history_pkey ${key}`);
    await rebuild();
    await runner.query('VACUUM ANALYZE');
  } finally {
    await runner.query('RESET ALL');
    await runner.release();
  }
}

/** Building an index at the end is several times quicker than filling it row by row. */
async function dropIndexes(runner: Pick<DataSource, 'query'>, tables: readonly string[]): Promise<() => Promise<void>> {
  const indexes = await runner.query<{ name: string; definition: string }[]>(
    `SELECT c.relname AS name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') AS definition
       FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE i.indrelid = ANY ($1::regclass[]) AND NOT i.indisprimary`,
    [tables],
  );
  for (const { name } of indexes) await runner.query(`DROP INDEX ${name}`);
  return async () => {
    for (const { definition } of indexes) await runner.query(definition);
  };
}
