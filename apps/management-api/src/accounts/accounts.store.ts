import type { ApiKeySnapshot } from '@berth/contracts';
import type { AccountId, Endpoint, LimitOverrides } from '@berth/domain';
import { IsNull } from 'typeorm';
import {
  AccountEntity,
  ApiKeyEntity,
  apiKeyRow,
  type Database,
  EndpointEntity,
  toEndpoint,
} from '../persistence/index.js';

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  /** Those that an operator has set; all others are at their defaults. */
  readonly limits: LimitOverrides;
  /** Grows with each change, from 1. */
  readonly version: number;
  readonly createdAtMs: number;
}

/** Endpoints and keys that go with an account. */
export interface AccountRemains {
  readonly endpoints: readonly Endpoint[];
  readonly keyPrefixes: readonly string[];
}

const FORGET_DELETED = `
  WITH forgotten AS (
         SELECT a.id FROM accounts a WHERE a.deleted_at IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM endpoints e WHERE e.account_id = a.id)),
       without_files AS (
         INSERT INTO deleted_volumes (id, account_id, storage_id)
         SELECT v.id, v.account_id, v.storage_id FROM network_volumes v JOIN forgotten f ON f.id = v.account_id
          WHERE v.storage_id IS NOT NULL)
  DELETE FROM accounts WHERE id IN (SELECT id FROM forgotten)`;

export class AccountsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Stores the account with its first key. */
  insert(account: Account, firstKey: { readonly name: string; readonly snapshot: ApiKeySnapshot }): Promise<void> {
    const { createdAtMs, ...columns } = account;
    return this.#database.transaction(async (manager) => {
      await manager.insert(AccountEntity, { ...columns, createdAt: new Date(createdAtMs), deletedAt: null });
      await manager.insert(ApiKeyEntity, apiKeyRow({ ...firstKey.snapshot, name: firstKey.name, createdAtMs }));
    });
  }

  async list(): Promise<readonly Account[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(AccountEntity, { where: { deletedAt: IsNull() }, order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(toAccount);
  }

  async find(id: AccountId): Promise<Account | null> {
    const row = await this.#database.read((manager) => manager.findOneBy(AccountEntity, { id, deletedAt: IsNull() }));
    return row === null ? null : toAccount(row);
  }

  /**
   * No other transaction changes or deletes it until this one is over, or adds an endpoint to it; where it is to be
   * deleted, none adds anything.
   */
  async lock(id: AccountId, purpose: 'change' | 'deletion'): Promise<Account | null> {
    // A write that adds something to the account holds its key, which only a deletion waits for.
    const mode = purpose === 'deletion' ? 'pessimistic_write' : 'for_no_key_update';
    const row = await this.#database.transaction((manager) =>
      manager.findOne(AccountEntity, { where: { id, deletedAt: IsNull() }, lock: { mode } }),
    );
    return row === null ? null : toAccount(row);
  }

  /** Replaces a locked account. */
  async update({ id, limits, name, version }: Account): Promise<void> {
    await this.#database.transaction((manager) => manager.update(AccountEntity, { id }, { limits, name, version }));
  }

  /** Deletes a locked account, its endpoints and its keys. Returns these. */
  delete(id: AccountId, nowMs: number): Promise<AccountRemains> {
    return this.#database.transaction(async (manager) => {
      const endpoints = await manager.findBy(EndpointEntity, { accountId: id, deletedAt: IsNull() });
      const keys = await manager.findBy(ApiKeyEntity, { accountId: id });
      const deletedAt = new Date(nowMs);
      await manager.update(AccountEntity, { id }, { deletedAt });
      await manager.update(EndpointEntity, { accountId: id, deletedAt: IsNull() }, { deletedAt });
      await manager.query(`DELETE FROM endpoint_volumes WHERE account_id = $1`, [id]);
      await manager.delete(ApiKeyEntity, { accountId: id });
      return { endpoints: endpoints.map(toEndpoint), keyPrefixes: keys.map(({ prefix }) => prefix) };
    });
  }

  /** Forgets deleted accounts of which nothing is left; the files of their volumes go later. Returns their number. */
  async forgetDeleted(): Promise<number> {
    const [, count] = await this.#database.read((manager) => manager.query<[unknown[], number]>(FORGET_DELETED));
    return count;
  }
}

const toAccount = (row: AccountEntity): Account => ({
  id: row.id as AccountId,
  name: row.name,
  limits: row.limits,
  version: row.version,
  createdAtMs: row.createdAt.getTime(),
});
