import type { HostLoad, WorkerResources } from '@berth/domain';
import { type Database, HostEntity, toHostRecord, WorkerEntity } from '../persistence/index.js';

/** Reads only, and of all accounts: what comes out of it are totals. */
export class HostLoadsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Every host of the installation with what the workers of all accounts take of it, as of one instant. */
  all(): Promise<readonly HostLoad[]> {
    return this.#database.snapshot(async (manager) => {
      const hosts = await manager.find(HostEntity, { order: { createdAt: 'ASC', id: 'ASC' } });
      const workers = await manager.find(WorkerEntity, { select: { id: true, hostId: true, resources: true } });
      const taken = new Map<string, WorkerResources[]>();
      for (const { hostId, resources } of workers) {
        taken.set(hostId, [...(taken.get(hostId) ?? []), resources]);
      }
      return hosts.map((row) => ({ host: toHostRecord(row), taken: taken.get(row.id) ?? [] }));
    });
  }
}
