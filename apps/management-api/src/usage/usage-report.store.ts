import type { AccountId, EndpointId } from '@berth/domain';
import type { Database } from '../persistence/index.js';

/** Where a sum stands among all of a report. */
export interface UsagePlace {
  /** When its bucket begins. */
  readonly atMs: number;
  /** Null: not grouped by endpoint. */
  readonly endpointId: EndpointId | null;
  /** Null: not grouped by type of GPU; empty: workers without a GPU. */
  readonly gpuTypeId: string | null;
}

/** What was used in one bucket. Exact up to 2^53 ms, which is 285,000 years. */
export interface UsageSum extends UsagePlace {
  /** Null: the endpoint is deleted, or the sum is of no single one. */
  readonly endpointName: string | null;
  readonly workerMs: number;
  readonly gpuMs: number;
  readonly pausedWorkerMs: number;
  readonly pausedGpuMs: number;
}

/** Whose usage is read. */
export interface UsageOwner {
  readonly accountId: AccountId;
  /** Only of these endpoints; null: of all that the account has or had. */
  readonly endpointIds: readonly EndpointId[] | null;
}

export interface UsageReport extends UsageOwner {
  /** A whole number of buckets; `startMs` is the begin of one. */
  readonly startMs: number;
  readonly endMs: number;
  readonly bucketMs: number;
  readonly isByEndpoint: boolean;
  readonly isByGpuType: boolean;
  /** Only sums behind this place. */
  readonly after: UsagePlace | null;
  readonly limit: number;
}

interface SumRow {
  readonly at: Date;
  readonly endpoint_id: string | null;
  readonly gpu_type_id: string | null;
  readonly name: string | null;
  readonly worker_ms: string;
  readonly gpu_ms: string;
  readonly paused_worker_ms: string;
  readonly paused_gpu_ms: string;
}

/**
 * Bucket after bucket until the page is full, so that a page costs what its own buckets cost, and not what the range does.
 * What the sums are not told apart by is empty, so that each has one place in one order. A bucket is so many ms and no
 * calendar day: sessions of the database may be of any time zone.
 */
const SUMS = `
  WITH page AS (
    SELECT b.at, s.* FROM (
      SELECT at FROM generate_series($2::timestamptz, $3::timestamptz - $4::interval, $4::interval) AS at ORDER BY at) b
     CROSS JOIN LATERAL (
      SELECT CASE WHEN $5 THEN u.endpoint_id ELSE '' END AS endpoint_id,
             CASE WHEN $6 THEN u.gpu_type_id ELSE '' END AS gpu_type_id,
             sum(u.worker_ms) AS worker_ms, sum(u.gpu_ms) AS gpu_ms,
             sum(u.paused_worker_ms) AS paused_worker_ms, sum(u.paused_gpu_ms) AS paused_gpu_ms
        FROM usage_hours u
       WHERE u.account_id = $1 AND u.hour >= b.at AND u.hour < b.at + $4::interval
         AND ($7::text[] IS NULL OR u.endpoint_id = ANY ($7))
       GROUP BY 1, 2) s
     WHERE $8::timestamptz IS NULL OR (b.at, s.endpoint_id, s.gpu_type_id) > ($8, $9::text, $10::text)
     ORDER BY b.at, s.endpoint_id, s.gpu_type_id LIMIT $11)
  SELECT p.*, e.spec->>'name' AS name
    FROM page p LEFT JOIN endpoints e ON e.id = p.endpoint_id AND e.account_id = $1 AND e.deleted_at IS NULL
   ORDER BY p.at, p.endpoint_id, p.gpu_type_id`;

/**
 * Of each worker it is known what it used up to where its run is counted; of one without a run, up to the last word of its
 * host, and of one that its host has not spoken of, up to when it was given its place. Runs that have ended are there until they are counted.
 */
const COUNTED_UNTIL = `
  SELECT LEAST($3::timestamptz,
    (SELECT min(COALESCE(r.counted_until, CASE WHEN w.observed IS NULL THEN w.created_at
                                                ELSE GREATEST(h.last_seen_at, w.created_at) END))
       FROM endpoints e JOIN workers w ON w.endpoint_id = e.id JOIN hosts h ON h.id = w.host_id
       LEFT JOIN worker_runs r ON r.worker_id = w.id AND r.until IS NULL
      WHERE e.account_id = $1 AND ($2::text[] IS NULL OR e.id = ANY ($2))),
    (SELECT min(r.counted_until) FROM worker_runs r
      WHERE r.account_id = $1 AND r.until IS NOT NULL AND ($2::text[] IS NULL OR r.endpoint_id = ANY ($2)))) AS at`;

/** What accounts are told of their usage. Read only. */
export class UsageReportStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Up to when everything is in the sums; `nowMs` where nothing is waited for. */
  async countedUntilMs({ accountId, endpointIds }: UsageOwner, nowMs: number): Promise<number> {
    const [row] = await this.#database.read((manager) =>
      manager.query<{ at: Date }[]>(COUNTED_UNTIL, [accountId, endpointIds, new Date(nowMs)]),
    );
    return row?.at.getTime() ?? nowMs;
  }

  /** Oldest first. */
  async list({ accountId, after, endpointIds, limit, ...report }: UsageReport): Promise<readonly UsageSum[]> {
    const { bucketMs, endMs, isByEndpoint, isByGpuType, startMs } = report;
    const place =
      after === null ? [null, null, null] : [new Date(after.atMs), after.endpointId ?? '', after.gpuTypeId ?? ''];
    const rows = await this.#database.read((manager) =>
      manager.query<SumRow[]>(SUMS, [
        ...[accountId, new Date(startMs), new Date(endMs), `${String(bucketMs)} milliseconds`],
        ...[isByEndpoint, isByGpuType, endpointIds, ...place, limit],
      ]),
    );
    return rows.map(({ at, endpoint_id: endpointId, gpu_type_id: gpuTypeId, name, ...row }) => ({
      atMs: at.getTime(),
      endpointId: isByEndpoint ? (endpointId as EndpointId) : null,
      gpuTypeId: isByGpuType ? gpuTypeId : null,
      endpointName: name,
      workerMs: Number(row.worker_ms),
      gpuMs: Number(row.gpu_ms),
      pausedWorkerMs: Number(row.paused_worker_ms),
      pausedGpuMs: Number(row.paused_gpu_ms),
    }));
  }
}
