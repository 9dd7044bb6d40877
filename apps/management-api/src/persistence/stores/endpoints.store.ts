import { IsNull, type EntityManager } from 'typeorm';
import { PlatformError, type AccountId, type Endpoint, type EndpointId } from '@berth/domain';
import type { EndpointRecords } from '../../endpoints/endpoint-records.port.js';
import type { Database } from '../database.js';
import { AccountEntity, EndpointEntity, ReleaseEntity } from '../entities/index.js';
import { toEndpoint } from '../rows.js';

export class EndpointsStore implements EndpointRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  insert(endpoint: Endpoint, publish: () => Promise<void>): Promise<void> {
    const { accountId, createdAtMs, id, release, spec } = endpoint;
    const createdAt = new Date(createdAtMs);
    return this.#database.transaction(async (manager) => {
      await requireAccount(manager, accountId);
      await manager.insert(EndpointEntity, { id, accountId, spec, release, createdAt, deletedAt: null });
      await manager.insert(ReleaseEntity, { endpointId: id, release, container: spec.container, createdAt });
      await publish();
    });
  }

  async find(accountId: AccountId, id: EndpointId): Promise<Endpoint | null> {
    const row = await this.#database.read((manager) =>
      manager.findOneBy(EndpointEntity, { id, accountId, deletedAt: IsNull() }),
    );
    return row === null ? null : toEndpoint(row);
  }

  async list(accountId: AccountId): Promise<readonly Endpoint[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(EndpointEntity, {
        where: { accountId, deletedAt: IsNull() },
        order: { createdAt: 'ASC', id: 'ASC' },
      }),
    );
    return rows.map(toEndpoint);
  }

  delete(
    { accountId, id }: { readonly accountId: AccountId; readonly id: EndpointId },
    nowMs: number,
    publish: (endpoint: Endpoint) => Promise<void>,
  ): Promise<boolean> {
    return this.#database.transaction(async (manager) => {
      const row = await manager.findOne(EndpointEntity, {
        where: { id, accountId, deletedAt: IsNull() },
        lock: { mode: 'pessimistic_write' },
      });
      if (row === null) return false;
      await manager.update(EndpointEntity, { id }, { deletedAt: new Date(nowMs) });
      await publish(toEndpoint(row));
      return true;
    });
  }
}

/** Holds the account while something is added to it, so that its deletion sees all of it. */
export async function requireAccount(manager: EntityManager, accountId: AccountId): Promise<void> {
  const account = await manager.findOne(AccountEntity, {
    where: { id: accountId, deletedAt: IsNull() },
    lock: { mode: 'pessimistic_read' },
  });
  if (account === null) throw new PlatformError('invalid-api-key', 'The account of this key is gone.');
}
