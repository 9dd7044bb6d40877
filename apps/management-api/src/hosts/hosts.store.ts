import {
  type Database,
  HostEntity,
  type HostRecord,
  JoinTokenEntity,
  toHostRecord,
  toWorker,
  WorkerEntity,
} from '../persistence/index.js';
import { endRunsOfHost } from '../usage/index.js';
import type { HostId, HostIntent, Worker } from '@berth/domain';

export interface NewHost {
  readonly host: HostRecord;
  /** Lower-case hex SHA-256 of its one-time token. */
  readonly tokenHash: string;
  readonly tokenExpiresAtMs: number;
}

export class HostsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  insert({ host, tokenExpiresAtMs, tokenHash }: NewHost): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await manager.insert(HostEntity, {
        id: host.id,
        name: host.name,
        dataCenterId: host.dataCenterId,
        labels: host.labels,
        intent: host.intent,
        secretHash: null,
        inventory: null,
        instanceId: null,
        reportSequence: 0,
        lastSeenAt: null,
        createdAt: new Date(host.createdAtMs),
      });
      const expiresAt = new Date(tokenExpiresAtMs);
      await manager.insert(JoinTokenEntity, { hostId: host.id, hash: tokenHash, expiresAt, usedAt: null });
    });
  }

  async list(): Promise<readonly HostRecord[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(HostEntity, { order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(toHostRecord);
  }

  async find(id: HostId): Promise<HostRecord | null> {
    const row = await this.#database.read((manager) => manager.findOneBy(HostEntity, { id }));
    return row === null ? null : toHostRecord(row);
  }

  async workersOf(id: HostId): Promise<readonly Worker[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(WorkerEntity, { where: { hostId: id }, order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(toWorker);
  }

  /** Of all hosts: those whose last start failed, or that were moved from where they failed. */
  async failingWorkers(): Promise<readonly Worker[]> {
    const rows = await this.#database.read((manager) =>
      manager
        .createQueryBuilder(WorkerEntity, 'w')
        .where(`(w.observed->>'failedStarts')::integer > 0 OR w.failedOn <> '{}'`)
        .getMany(),
    );
    return rows.map(toWorker);
  }

  /** The host after the change, or null when there is none. */
  setIntent(id: HostId, intent: HostIntent): Promise<HostRecord | null> {
    return this.#database.transaction(async (manager) => {
      const row = await manager.findOne(HostEntity, { where: { id }, lock: { mode: 'pessimistic_write' } });
      if (row === null) return null;
      await manager.update(HostEntity, { id }, { intent });
      return toHostRecord({ ...row, intent });
    });
  }

  /** Removes the host with its workers, whose use of it ends. Returns whether it was there. */
  delete(id: HostId): Promise<boolean> {
    return this.#database.transaction(async (manager) => {
      await endRunsOfHost(manager, id);
      const { affected } = await manager.delete(HostEntity, { id });
      return (affected ?? 0) > 0;
    });
  }
}
