import type { AccountId, EndpointId } from '@berth/domain';
import type { Database } from '../persistence/index.js';

/** What was counted for workers of one endpoint with the same GPUs. */
export interface CountedUsage {
  readonly accountId: AccountId;
  readonly endpointId: EndpointId;
  /** Null: they have no GPU. */
  readonly gpuTypeId: string | null;
  readonly workerMs: number;
  readonly gpuMs: number;
  readonly pausedWorkerMs: number;
  readonly pausedGpuMs: number;
}

interface CountedRow {
  readonly account_id: string;
  readonly endpoint_id: string;
  readonly gpu_type_id: string;
  readonly worker_ms: string;
  readonly gpu_ms: string;
  readonly paused_worker_ms: string;
  readonly paused_gpu_ms: string;
}

/**
 * Adds what runs have not been counted for yet, and moves them on to there, in one statement: each millisecond is counted
 * once, whoever asks, however often, and wherever a process dies. A run that is open is counted up to the last word of its
 * host; one whose worker is gone without a word ends where it was counted to.
 */
const COUNT = `
  WITH due AS (
    SELECT r.id, r.account_id, r.endpoint_id, COALESCE(r.gpu_type_id, '') AS gpu_type_id, r.gpu_count, r.use,
           r.counted_until AS from_at, r.until IS NOT NULL OR w.id IS NULL AS is_over,
           CASE WHEN r.until IS NOT NULL THEN r.until WHEN w.id IS NULL THEN r.counted_until
                ELSE GREATEST(r.counted_until, LEAST(h.last_seen_at, $1::timestamptz)) END AS to_at
      FROM worker_runs r LEFT JOIN workers w ON w.id = r.worker_id LEFT JOIN hosts h ON h.id = r.host_id
     WHERE r.until IS NOT NULL OR w.id IS NULL OR r.counted_until < LEAST(h.last_seen_at, $1::timestamptz)
     ORDER BY r.counted_until, r.id LIMIT $2 FOR UPDATE OF r SKIP LOCKED),
  ended AS (DELETE FROM worker_runs r USING due d WHERE r.id = d.id AND d.is_over),
  moved AS (UPDATE worker_runs r SET counted_until = d.to_at FROM due d WHERE r.id = d.id AND NOT d.is_over),
  spans AS (
    SELECT d.account_id, h.hour, d.endpoint_id, d.gpu_type_id, d.gpu_count, d.use,
           round(extract(epoch FROM LEAST(d.to_at, h.hour + interval '1 hour') - GREATEST(d.from_at, h.hour)) * 1000)
             AS ms
      FROM due d
     CROSS JOIN LATERAL generate_series(date_trunc('hour', d.from_at, 'UTC'), d.to_at, interval '1 hour') AS h(hour)
     WHERE h.hour < d.to_at),
  sums AS (
    SELECT account_id, hour, endpoint_id, gpu_type_id,
           COALESCE(sum(ms) FILTER (WHERE use = 'running'), 0) AS worker_ms,
           COALESCE(sum(ms * gpu_count) FILTER (WHERE use = 'running'), 0) AS gpu_ms,
           COALESCE(sum(ms) FILTER (WHERE use = 'paused'), 0) AS paused_worker_ms,
           COALESCE(sum(ms * gpu_count) FILTER (WHERE use = 'paused'), 0) AS paused_gpu_ms
      FROM spans GROUP BY account_id, hour, endpoint_id, gpu_type_id),
  added AS (
    INSERT INTO usage_hours AS u
           (account_id, hour, endpoint_id, gpu_type_id, worker_ms, gpu_ms, paused_worker_ms, paused_gpu_ms)
    SELECT account_id, hour, endpoint_id, gpu_type_id, worker_ms, gpu_ms, paused_worker_ms, paused_gpu_ms
      FROM sums ORDER BY account_id, hour, endpoint_id, gpu_type_id
        ON CONFLICT (account_id, hour, endpoint_id, gpu_type_id) DO UPDATE
       SET worker_ms = u.worker_ms + excluded.worker_ms, gpu_ms = u.gpu_ms + excluded.gpu_ms,
           paused_worker_ms = u.paused_worker_ms + excluded.paused_worker_ms,
           paused_gpu_ms = u.paused_gpu_ms + excluded.paused_gpu_ms)
  SELECT s.account_id, s.endpoint_id, s.gpu_type_id, sum(s.worker_ms) AS worker_ms, sum(s.gpu_ms) AS gpu_ms,
         sum(s.paused_worker_ms) AS paused_worker_ms, sum(s.paused_gpu_ms) AS paused_gpu_ms
    FROM sums s GROUP BY s.account_id, s.endpoint_id, s.gpu_type_id`;

/** As `useOf` has it. */
const USE_OF_WORKER = `
  CASE WHEN w.observed->>'startedAtMs' IS NULL OR w.observed->>'phase' = 'removed' THEN NULL
       WHEN w.observed->>'phase' = 'paused' THEN 'paused' ELSE 'running' END`;

/**
 * Runs as the workers are, where a program of before there were runs took a report: what it did not note is counted from
 * when this was seen. A worker whose run ends here gets its next one when this is asked again.
 */
const ALIGN = `
  WITH known AS (
    SELECT w.id, w.endpoint_id, w.host_id, w.resources, ${USE_OF_WORKER} AS use, h.last_seen_at
      FROM workers w JOIN hosts h ON h.id = w.host_id),
  ended AS (
    UPDATE worker_runs r SET until = r.counted_until
      FROM known k WHERE k.id = r.worker_id AND r.until IS NULL AND k.use IS DISTINCT FROM r.use)
  INSERT INTO worker_runs (worker_id, account_id, endpoint_id, host_id, gpu_type_id, gpu_count, use, counted_until)
  SELECT k.id, e.account_id, k.endpoint_id, k.host_id, k.resources->>'gpuTypeId', (k.resources->>'gpuCount')::integer,
         k.use, k.last_seen_at
    FROM known k JOIN endpoints e ON e.id = k.endpoint_id
   WHERE k.use IS NOT NULL AND k.last_seen_at IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM worker_runs r WHERE r.worker_id = k.id AND r.until IS NULL)
      ON CONFLICT (worker_id) WHERE until IS NULL DO NOTHING`;

const PRUNE = `
  DELETE FROM usage_hours WHERE (account_id, hour, endpoint_id, gpu_type_id) IN (
    SELECT account_id, hour, endpoint_id, gpu_type_id FROM usage_hours WHERE hour < $1 ORDER BY hour LIMIT $2)`;

/** What workers have used, hour by hour. Only `count` writes the sums. */
export class UsageStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Counts what was used until now, of so many runs at most, those first that were counted longest ago. Returns what it
   * added; empty once there is nothing to count.
   */
  async count(nowMs: number, limit: number): Promise<readonly CountedUsage[]> {
    const rows = await this.#database.read((manager) => manager.query<CountedRow[]>(COUNT, [new Date(nowMs), limit]));
    return rows.map((row) => ({
      accountId: row.account_id as AccountId,
      endpointId: row.endpoint_id as EndpointId,
      gpuTypeId: row.gpu_type_id === '' ? null : row.gpu_type_id,
      workerMs: Number(row.worker_ms),
      gpuMs: Number(row.gpu_ms),
      pausedWorkerMs: Number(row.paused_worker_ms),
      pausedGpuMs: Number(row.paused_gpu_ms),
    }));
  }

  /** Puts runs right that do not go with what is known of their workers. */
  async align(): Promise<void> {
    await this.#database.read((manager) => manager.query(ALIGN));
  }

  /** Removes at most `limit` rows of hours that began before the instant, the oldest first, and returns how many. */
  async prune(beforeMs: number, limit: number): Promise<number> {
    const [, count] = await this.#database.read((manager) =>
      manager.query<[unknown[], number]>(PRUNE, [new Date(beforeMs), limit]),
    );
    return count;
  }
}
