import type { AccountId, NetworkVolumeType } from '@berth/domain';
import type { ResourceUser } from '../references/index.js';
import { type Database, NetworkVolumeEntity, requireAccount } from '../persistence/index.js';

export interface NetworkVolume {
  readonly id: string;
  readonly accountId: AccountId;
  readonly name: string;
  readonly sizeGb: number;
  readonly dataCenterId: string;
  readonly type: NetworkVolumeType;
  readonly createdAtMs: number;
}

/** Of workers those whose endpoint uses it no more: they still write there until they have left. */
const USERS = `
  SELECT 'endpoint' AS kind, endpoint_id AS id FROM endpoint_volumes WHERE account_id = $1 AND volume_id = $2
   UNION ALL
  SELECT 'pod', pod_id FROM pod_volumes WHERE account_id = $1 AND volume_id = $2
   UNION ALL
  SELECT 'worker', w.id FROM workers w JOIN endpoints e ON e.id = w.endpoint_id
   WHERE w.volume_id = $2 AND e.account_id = $1
     AND NOT EXISTS (SELECT 1 FROM endpoint_volumes u WHERE u.endpoint_id = e.id AND u.volume_id = $2)
   ORDER BY kind, id LIMIT $3`;

/** What a storage has of it goes later, by a host that reaches it. */
const DELETE_VOLUME = `
  WITH gone AS (DELETE FROM network_volumes WHERE id = $1 AND account_id = $2 RETURNING id, account_id, storage_id)
  INSERT INTO deleted_volumes (id, account_id, storage_id)
  SELECT id, account_id, storage_id FROM gone WHERE storage_id IS NOT NULL`;

/** Every method is about one account. */
export class NetworkVolumesStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws PlatformError `invalid-api-key` when the account is gone */
  insert(volume: NetworkVolume): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await requireAccount(manager, volume.accountId);
      const { createdAtMs, ...columns } = volume;
      await manager.insert(NetworkVolumeEntity, { ...columns, createdAt: new Date(createdAtMs) });
    });
  }

  async find(accountId: AccountId, id: string): Promise<NetworkVolume | null> {
    const row = await this.#database.read((manager) => manager.findOneBy(NetworkVolumeEntity, { id, accountId }));
    return row === null ? null : toNetworkVolume(row);
  }

  /** Oldest first. */
  async list(accountId: AccountId): Promise<readonly NetworkVolume[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(NetworkVolumeEntity, { where: { accountId }, order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(toNetworkVolume);
  }

  /**
   * Until the transaction is over nothing begins to use it, and nothing else changes or deletes it: a write that refers to
   * the row waits, because a foreign key shares the lock of the row that it names.
   */
  lock(accountId: AccountId, id: string): Promise<NetworkVolume | null> {
    return this.#database.transaction(async (manager) => {
      const row = await manager.findOne(NetworkVolumeEntity, {
        where: { id, accountId },
        lock: { mode: 'pessimistic_write' },
      });
      return row === null ? null : toNetworkVolume(row);
    });
  }

  /** At most `limit` of those that keep it from being deleted. */
  usersOf(accountId: AccountId, id: string, limit: number): Promise<readonly ResourceUser[]> {
    return this.#database.read((manager) => manager.query<ResourceUser[]>(USERS, [accountId, id, limit]));
  }

  async update({
    accountId,
    id,
    name,
    sizeGb,
  }: Pick<NetworkVolume, 'accountId' | 'id' | 'name' | 'sizeGb'>): Promise<void> {
    await this.#database.transaction((manager) =>
      manager.update(NetworkVolumeEntity, { id, accountId }, { name, sizeGb }),
    );
  }

  async delete(accountId: AccountId, id: string): Promise<void> {
    await this.#database.transaction((manager) => manager.query(DELETE_VOLUME, [id, accountId]));
  }
}

const toNetworkVolume = ({ createdAt, storageId: _, ...row }: NetworkVolumeEntity): NetworkVolume => ({
  ...row,
  accountId: row.accountId as AccountId,
  createdAtMs: createdAt.getTime(),
});
