import type { AccountId, EndpointId } from '@berth/domain';
import { IsNull, type EntityManager } from 'typeorm';
import { type Database, EndpointEntity, WebhookSecretEntity } from '../persistence/index.js';

/** A secret as it lies in the database. */
export interface WebhookSecretRecord {
  readonly endpointId: EndpointId;
  /** 1, 2, 3 and so on for one endpoint. */
  readonly ordinal: number;
  readonly sealedSecret: string;
  readonly createdAtMs: number;
  /** Null: the present one. */
  readonly expiresAtMs: number | null;
}

const WITHOUT = `
  SELECT e.id, e.account_id AS "accountId" FROM endpoints e
   WHERE e.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM webhook_secrets s WHERE s.endpoint_id = e.id)
   LIMIT $1`;

export class WebhookSecretsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Until the transaction is over no other changes or deletes the endpoint. Returns whether it is there. */
  hold(accountId: AccountId, endpointId: EndpointId): Promise<boolean> {
    return this.#database.transaction(async (manager) => {
      const endpoint = await manager.findOne(EndpointEntity, {
        select: { id: true },
        where: { id: endpointId, accountId, deletedAt: IsNull() },
        lock: { mode: 'pessimistic_write' },
      });
      return endpoint !== null;
    });
  }

  /** Newest first. */
  list(endpointId: EndpointId): Promise<readonly WebhookSecretRecord[]> {
    return this.#database.read((manager) => recordsOf(manager, endpointId));
  }

  /** The first ones of an endpoint that the same transaction has made. */
  insert(records: readonly WebhookSecretRecord[]): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await manager.insert(WebhookSecretEntity, records.map(toRow));
    });
  }

  /** Replaces the secrets of a held endpoint. */
  replace(endpointId: EndpointId, records: readonly WebhookSecretRecord[]): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await manager.delete(WebhookSecretEntity, { endpointId });
      await manager.insert(WebhookSecretEntity, records.map(toRow));
    });
  }

  /** One of a held endpoint: how it is sealed. */
  update({ endpointId, ordinal, sealedSecret }: WebhookSecretRecord): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await manager.update(WebhookSecretEntity, { endpointId, ordinal }, { sealedSecret });
    });
  }

  /** Endpoints that are not deleted and have no secret, at most `limit`. */
  without(limit: number): Promise<readonly { readonly accountId: AccountId; readonly id: EndpointId }[]> {
    return this.#database.read((manager) => manager.query(WITHOUT, [limit]));
  }
}

async function recordsOf(manager: EntityManager, endpointId: EndpointId): Promise<readonly WebhookSecretRecord[]> {
  const rows = await manager.find(WebhookSecretEntity, { where: { endpointId }, order: { ordinal: 'DESC' } });
  return rows.map(toRecord);
}

const toRecord = (row: WebhookSecretEntity): WebhookSecretRecord => ({
  endpointId: row.endpointId as EndpointId,
  ordinal: row.ordinal,
  sealedSecret: row.sealedSecret,
  createdAtMs: row.createdAt.getTime(),
  expiresAtMs: row.expiresAt?.getTime() ?? null,
});

const toRow = (record: WebhookSecretRecord): WebhookSecretEntity => ({
  endpointId: record.endpointId,
  ordinal: record.ordinal,
  sealedSecret: record.sealedSecret,
  createdAt: new Date(record.createdAtMs),
  expiresAt: record.expiresAtMs === null ? null : new Date(record.expiresAtMs),
});
