import {
  ApiKeyEntity,
  type ApiKeyRecord,
  apiKeyRow,
  type Database,
  EndpointEntity,
  requireAccount,
  toApiKeyRecord,
  toApiKeySnapshot,
} from '../persistence/index.js';
import type { AccountId, EndpointId } from '@berth/domain';
import { In, IsNull } from 'typeorm';
import type { ApiKeySnapshot } from '@berth/contracts';
import type { ApiKeyDirectory } from '@berth/http';

const BY_PREFIX = `
  SELECT id, account_id AS "accountId", prefix, hash, scopes, endpoint_ids AS "endpointIds", expires_at AS "expiresAt"
    FROM api_keys WHERE prefix = $1`;

/** Every method but `find` is about one account. Also the directory by which this process's own requests are let in: a revoked key is refused at once. */
export class ApiKeysStore implements ApiKeyDirectory {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  insert(key: ApiKeyRecord): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await requireAccount(manager, key.accountId);
      await manager.insert(ApiKeyEntity, apiKeyRow(key));
    });
  }

  async list(accountId: AccountId): Promise<readonly ApiKeyRecord[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(ApiKeyEntity, { where: { accountId }, order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(toApiKeyRecord);
  }

  /** Returns what it was, or null when it was not there. */
  delete(accountId: AccountId, id: string): Promise<ApiKeyRecord | null> {
    return this.#database.transaction(async (manager) => {
      const row = await manager.findOne(ApiKeyEntity, {
        where: { id, accountId },
        lock: { mode: 'pessimistic_write' },
      });
      if (row === null) return null;
      await manager.delete(ApiKeyEntity, { id, accountId });
      return toApiKeyRecord(row);
    });
  }

  /** Whether it was not revoked. */
  isKept(accountId: AccountId, id: string): Promise<boolean> {
    return this.#database.read((manager) => manager.existsBy(ApiKeyEntity, { id, accountId }));
  }

  /** Those of the ids that are endpoints of the account. */
  async knownEndpoints(accountId: AccountId, ids: readonly EndpointId[]): Promise<ReadonlySet<EndpointId>> {
    const rows = await this.#database.read((manager) =>
      manager.find(EndpointEntity, {
        where: { accountId, id: In([...ids]), deletedAt: IsNull() },
        select: { id: true },
      }),
    );
    return new Set(rows.map(({ id }) => id as EndpointId));
  }

  async find(prefix: string): Promise<ApiKeySnapshot | null> {
    const [row] = await this.#database.read((manager) => manager.query<ApiKeyEntity[]>(BY_PREFIX, [prefix]));
    return row === undefined ? null : toApiKeySnapshot(row);
  }
}
