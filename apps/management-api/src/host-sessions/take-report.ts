import { HOST_PLACEABLE_MS, type HostId, type Inventory, type ObservedWorker } from '@berth/domain';
import type { EntityManager } from 'typeorm';

/** A host that was silent for longer gets no new workers, so its first word after that is news. */
const SILENCE_SECONDS = HOST_PLACEABLE_MS / 1000;

export interface HostReport {
  readonly hostId: HostId;
  readonly instanceId: string;
  readonly sequence: number;
  /** Null: what is known of it stays. */
  readonly inventory: Inventory | null;
  readonly workers: readonly ObservedWorker[];
  readonly receivedAtMs: number;
  /** By the host's own clock; absent: it does not say. */
  readonly sentAtMs?: number;
}

interface TakenReport {
  /** The inventory, or that the host is there, is news. */
  readonly isNews: boolean;
  /** When the report before it was received; null: it is the first. */
  readonly previousAtMs: number | null;
  /** The agent has begun anew since then. */
  readonly isRestart: boolean;
}

interface TakenRow {
  readonly is_news: boolean;
  readonly previous_at: Date | null;
  readonly is_restart: boolean;
}

/** Takes a report, but not its workers. Null for an outdated one; an inventory that is the same is not written. */
export async function takeReport(manager: EntityManager, report: HostReport): Promise<TakenReport | null> {
  const { hostId, instanceId, inventory, receivedAtMs, sequence } = report;
  const [rows] = await manager.query<[TakenRow[], number]>(
    `UPDATE hosts h
        SET inventory = CASE WHEN old.is_same THEN h.inventory ELSE $4::jsonb END,
            last_seen_at = $5, instance_id = $2, report_sequence = $3
       FROM (SELECT id, $4::jsonb IS NULL OR inventory IS NOT DISTINCT FROM $4::jsonb AS is_same,
                    instance_id, last_seen_at, last_seen_at IS NULL OR last_seen_at < $5::timestamptz - make_interval(secs => $6) AS was_silent
               FROM hosts WHERE id = $1 FOR UPDATE) old
      WHERE h.id = old.id AND (h.instance_id IS DISTINCT FROM $2 OR h.report_sequence < $3)
      RETURNING old.was_silent OR NOT old.is_same AS is_news, old.last_seen_at AS previous_at,
                old.instance_id IS DISTINCT FROM $2 AS is_restart`,
    [hostId, instanceId, sequence, inventory && JSON.stringify(inventory), new Date(receivedAtMs), SILENCE_SECONDS],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { isNews: row.is_news, previousAtMs: row.previous_at?.getTime() ?? null, isRestart: row.is_restart };
}
