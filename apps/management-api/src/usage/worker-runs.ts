import type { EntityManager } from 'typeorm';
import type { HostId, ObservedWorker, RunChange, WorkerId } from '@berth/domain';

/** What a report changes of the runs of one worker of its host. */
export interface WorkerRunChange extends RunChange {
  readonly workerId: WorkerId;
}

/** The runs of a worker follow each other, and only the last one is open. */
const END = `
  UPDATE worker_runs r SET until = GREATEST(r.counted_until, c."endedAt")
    FROM jsonb_to_recordset($1::jsonb) AS c("workerId" text, "endedAt" timestamptz)
   WHERE r.worker_id = c."workerId" AND r.worker_id = ANY ($2::text[]) AND r.until IS NULL`;

const BEGIN = `
  INSERT INTO worker_runs (worker_id, account_id, endpoint_id, host_id, gpu_type_id, gpu_count, use, counted_until)
  SELECT w.id, e.account_id, w.endpoint_id, w.host_id, w.resources->>'gpuTypeId', (w.resources->>'gpuCount')::integer,
         c.use, c."sinceAt"
    FROM jsonb_to_recordset($1::jsonb) AS c("workerId" text, use text, "sinceAt" timestamptz)
    JOIN workers w ON w.id = c."workerId" AND w.id = ANY ($2::text[])
    JOIN endpoints e ON e.id = w.endpoint_id
      ON CONFLICT (worker_id) WHERE until IS NULL DO NOTHING`;

/** To be called in the transaction that takes the report, so that neither is there without the other. */
export async function noteRuns(manager: EntityManager, changes: readonly WorkerRunChange[]): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ begun, endedAtMs, workerId }) => ({
    workerId,
    endedAt: endedAtMs === null ? null : new Date(endedAtMs),
    use: begun?.use ?? null,
    sinceAt: begun === null ? null : new Date(begun.sinceMs),
  }));
  const [ended, begun] = [rows.filter(({ endedAt }) => endedAt !== null), rows.filter(({ use }) => use !== null)];
  if (ended.length > 0) await manager.query(END, [JSON.stringify(ended), ended.map(({ workerId }) => workerId)]);
  if (begun.length > 0) await manager.query(BEGIN, [JSON.stringify(begun), begun.map(({ workerId }) => workerId)]);
}

/**
 * Ends the runs of workers whose rows go, in the statement that removes these: they ran until their host was heard last.
 *
 * @param gone name of a part of the statement that has their `id` and `host_id`
 */
export const endRunsOf = (gone: string): string => `
  UPDATE worker_runs r
     SET until = GREATEST(r.counted_until, (SELECT h.last_seen_at FROM hosts h WHERE h.id = g.host_id))
    FROM ${gone} g WHERE r.worker_id = g.id AND r.until IS NULL`;

/** The same of a host that is about to be removed, with all of its workers. */
export async function endRunsOfHost(manager: EntityManager, hostId: HostId): Promise<void> {
  await manager.query(
    `UPDATE worker_runs r SET until = GREATEST(r.counted_until, h.last_seen_at)
       FROM hosts h WHERE h.id = $1 AND r.host_id = h.id AND r.until IS NULL`,
    [hostId],
  );
}

/** A container that an agent has found again is told with the start that it had. */
const END_BEFORE_RESTART = `
  UPDATE worker_runs r SET until = GREATEST(r.counted_until, $2)
   WHERE r.host_id = $1 AND r.until IS NULL
     AND NOT EXISTS (SELECT 1 FROM workers w JOIN jsonb_array_elements($3::jsonb) AS o(value) ON o.value->>'workerId' = w.id
                      WHERE w.id = r.worker_id AND w.observed->'startedAtMs' = o.value->'startedAtMs'
                        AND o.value->'startedAtMs' <> 'null')`;

/**
 * Ends the runs of a host whose agent has begun anew, but for containers that are there still: what it did while nobody
 * reported, for hours perhaps, nobody knows. To be called before the report's workers are written down.
 */
export async function endRunsBeforeRestart(
  manager: EntityManager,
  host: { readonly hostId: HostId; readonly workers: readonly ObservedWorker[]; readonly lastHeardAtMs: number | null },
): Promise<void> {
  const { hostId, lastHeardAtMs, workers } = host;
  if (lastHeardAtMs === null) return;
  const found = workers.map(({ startedAtMs, workerId }) => ({ workerId, startedAtMs }));
  await manager.query(END_BEFORE_RESTART, [hostId, new Date(lastHeardAtMs), JSON.stringify(found)]);
}
