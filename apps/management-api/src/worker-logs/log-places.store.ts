import { LOG_CURSORS_MAX } from '@berth/contracts';
import type { AccountId, EndpointId, HostId, WorkerId } from '@berth/domain';
import type { Database } from '../persistence/index.js';

/** Where the log of a worker is kept. */
export interface KeptLog {
  readonly workerId: WorkerId;
  readonly hostId: HostId;
  /** Null: it is there, or is to be. */
  readonly departedAtMs: number | null;
}

interface PlaceRow {
  readonly worker_id: string | null;
  readonly host_id: string;
  readonly departed_at: Date | null;
}

/** Reads only, and of an endpoint of one account: those who are there, and those who were. */
export class LogPlacesStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * As many as a reader can follow: first those that are there, then those that left last. Null where there is no such
   * endpoint any more.
   *
   * @param workerId only this one; null: all of the endpoint
   */
  async ofEndpoint(accountId: AccountId, id: EndpointId, workerId: string | null): Promise<readonly KeptLog[] | null> {
    const rows = await this.#database.read((manager) =>
      manager.query<PlaceRow[]>(
        `SELECT p.worker_id, p.host_id, p.departed_at
           FROM endpoints e LEFT JOIN LATERAL (
             (SELECT w.id AS worker_id, w.host_id,
                     CASE WHEN w.observed->>'phase' = 'removed' THEN now() END AS departed_at
                FROM workers w
               WHERE w.endpoint_id = e.id AND ($3::text IS NULL OR w.id = $3)
               ORDER BY w.created_at DESC LIMIT $4)
             UNION ALL
             (SELECT d.worker_id, d.host_id, d.departed_at
                FROM departed_workers d
               WHERE d.endpoint_id = e.id AND ($3::text IS NULL OR d.worker_id = $3)
               ORDER BY d.departed_at DESC LIMIT $4)) p ON true
          WHERE e.id = $1 AND e.account_id = $2 AND e.deleted_at IS NULL
          ORDER BY p.departed_at DESC NULLS FIRST, p.worker_id LIMIT $4`,
        [id, accountId, workerId, LOG_CURSORS_MAX],
      ),
    );
    if (rows.length === 0) return null;
    return rows.flatMap(({ departed_at: departedAt, host_id: hostId, worker_id: found }) =>
      found === null
        ? []
        : [
            {
              workerId: found as WorkerId,
              hostId: hostId as HostId,
              departedAtMs: departedAt === null ? null : departedAt.getTime(),
            },
          ],
    );
  }
}
