import type { AccountId } from '@berth/domain';
import type { Registry, RegistryRecords } from '../../registries/registry-records.port.js';
import type { ResourceUser } from '../../references/resource-users.js';
import type { Database } from '../database.js';
import { RegistryEntity } from '../entities/index.js';
import { requireAccount } from './endpoints.store.js';

const USERS = `
  SELECT 'endpoint' AS kind, id FROM endpoints WHERE account_id = $1 AND registry_id = $2
   UNION ALL
  SELECT 'pod', id FROM pods WHERE account_id = $1 AND registry_id = $2
   ORDER BY kind, id LIMIT $3`;

export class RegistriesStore implements RegistryRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

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

  async list(accountId: AccountId): Promise<readonly Registry[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(RegistryEntity, { where: { accountId }, order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(toRegistry);
  }

  /** Whoever refers to the row meanwhile waits: a foreign key shares the lock of the row that it names. */
  lock(accountId: AccountId, id: string): Promise<boolean> {
    return this.#database.transaction(async (manager) => {
      const row = await manager.findOne(RegistryEntity, {
        where: { id, accountId },
        lock: { mode: 'pessimistic_write' },
      });
      return row !== null;
    });
  }

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
