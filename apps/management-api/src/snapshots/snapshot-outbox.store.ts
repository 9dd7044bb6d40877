import type { AccountId } from '@berth/domain';
import type { OutboxBacklog, OutboxEntry, SnapshotChange, SnapshotOutbox } from './snapshot-outbox.port.js';
import type { Database } from '../persistence/index.js';

/** Changes that are to be published, by position. A position is a number of the database and is kept as text. */
export class SnapshotOutboxStore implements SnapshotOutbox {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  add(bucket: string, keys: readonly string[]): Promise<readonly OutboxEntry[]> {
    return this.#database.read((manager) =>
      manager.query(
        `INSERT INTO snapshot_outbox (bucket, key) SELECT $1, unnest($2::text[]) RETURNING position, bucket, key`,
        [bucket, keys],
      ),
    );
  }

  /**
   * As `add`, for every endpoint of the account that is not deleted, however many there are.
   *
   * @returns the first of the entries, at most so many
   */
  addEndpointsOf(accountId: AccountId, bucket: string, limit: number): Promise<readonly OutboxEntry[]> {
    return this.#database.read((manager) =>
      manager.query(
        `WITH added AS (
           INSERT INTO snapshot_outbox (bucket, key)
           SELECT $1, id FROM endpoints WHERE account_id = $2 AND deleted_at IS NULL
           RETURNING position, bucket, key)
         SELECT position, bucket, key FROM added ORDER BY position LIMIT $3`,
        [bucket, accountId, limit],
      ),
    );
  }

  after(position: string, limit: number): Promise<readonly OutboxEntry[]> {
    return this.#database.read((manager) =>
      manager.query(
        `SELECT position, bucket, key FROM snapshot_outbox WHERE position > $1 ORDER BY position LIMIT $2`,
        [position, limit],
      ),
    );
  }

  async remove(positions: readonly string[]): Promise<void> {
    await this.#database.read((manager) =>
      manager.query(`DELETE FROM snapshot_outbox WHERE position = ANY ($1::bigint[])`, [positions]),
    );
  }

  async has({ bucket, key }: SnapshotChange): Promise<boolean> {
    const found = await this.#database.read((manager) =>
      manager.query<unknown[]>(`SELECT 1 FROM snapshot_outbox WHERE bucket = $1 AND key = $2 LIMIT 1`, [bucket, key]),
    );
    return found.length > 0;
  }

  async backlog(): Promise<OutboxBacklog> {
    const [row] = await this.#database.read((manager) =>
      manager.query<OutboxBacklog[]>(
        `SELECT count(*)::int AS entries,
                coalesce(extract(epoch FROM clock_timestamp() - min(changed_at)), 0)::float8 AS "oldestAgeSeconds"
           FROM snapshot_outbox`,
      ),
    );
    return row ?? { entries: 0, oldestAgeSeconds: 0 };
  }
}
