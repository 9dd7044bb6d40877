import { DELETED_VOLUMES_MAX, type HostVolume } from '@berth/contracts';
import type { Database } from '../persistence/index.js';

interface DeletedRow {
  readonly id: string;
  readonly account_id: string;
}

/** Volumes that were deleted and whose files a storage still has. */
export class DeletedVolumesStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The oldest `DELETED_VOLUMES_MAX` of them. */
  async on(storageId: string): Promise<readonly HostVolume[]> {
    const rows = await this.#database.read((manager) =>
      manager.query<DeletedRow[]>(
        `SELECT id, account_id FROM deleted_volumes WHERE storage_id = $1 ORDER BY deleted_at, id LIMIT $2`,
        [storageId, DELETED_VOLUMES_MAX],
      ),
    );
    return rows.map(({ account_id: accountId, id }) => ({ id, accountId }));
  }

  /** Forgets those whose files are gone. */
  async forget(storageId: string, ids: readonly string[]): Promise<void> {
    await this.#database.read((manager) =>
      manager.query(`DELETE FROM deleted_volumes WHERE id = ANY($2::text[]) AND storage_id = $1`, [storageId, ids]),
    );
  }
}
