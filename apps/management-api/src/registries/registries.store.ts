import type { AccountId } from '@berth/domain';
import type { ResourceUser } from '../references/index.js';
import { type Database, RegistryEntity, requireAccount } from '../persistence/index.js';

/** Credentials of a container registry, without the credentials. */
export interface Registry {
  readonly id: string;
  readonly accountId: AccountId;
  readonly name: string;
  readonly createdAtMs: number;
}

const USERS = `
  SELECT 'endpoint' AS kind, id FROM endpoints WHERE account_id = $1 AND registry_id = $2
   UNION ALL
  SELECT 'pod', id FROM pods WHERE account_id = $1 AND registry_id = $2
   ORDER BY kind, id LIMIT $3`;

/** Every method is about one account. */
export class RegistriesStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws PlatformError `invalid-api-key` when the account is gone */
  insert({ accountId, createdAtMs, id, name }: Registry, sealedCredentials: string): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await requireAccount(manager, accountId);
      const createdAt = new Date(createdAtMs);
      await manager.insert(RegistryEntity, { id, accountId, name, sealedCredentials, createdAt });
    });
  }

  async find(accountId: AccountId, id: string): Promise<Registry | null> {
    const row = await this.#database.read((manager) => manager.findOneBy(RegistryEntity, { id, accountId }));
    return row === null ? null : toRegistry(row);
  }

  /** Oldest first. */
  async list(accountId: AccountId): Promise<readonly Registry[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(RegistryEntity, { where: { accountId }, order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(toRegistry);
  }

  /**
   * Until the transaction is over nothing begins to use it, and it is not deleted: a write that refers to the row waits,
   * because a foreign key shares the lock of the row that it names. Returns whether it is there.
   */
  lock(accountId: AccountId, id: string): Promise<boolean> {
    return this.#database.transaction(async (manager) => {
      const row = await manager.findOne(RegistryEntity, {
        where: { id, accountId },
        lock: { mode: 'pessimistic_write' },
      });
      return row !== null;
    });
  }

  /** At most `limit` of those that keep it from being deleted. */
  usersOf(accountId: AccountId, id: string, limit: number): Promise<readonly ResourceUser[]> {
    return this.#database.read((manager) => manager.query<ResourceUser[]>(USERS, [accountId, id, limit]));
  }

  async delete(accountId: AccountId, id: string): Promise<void> {
    await this.#database.transaction((manager) => manager.delete(RegistryEntity, { id, accountId }));
  }
}

const toRegistry = (row: RegistryEntity): Registry => ({
  id: row.id,
  accountId: row.accountId as AccountId,
  name: row.name,
  createdAtMs: row.createdAt.getTime(),
});
