import type { AccountId, VolumePlace } from '@berth/domain';
import { In } from 'typeorm';
import { type Database, NetworkVolumeEntity, RegistryEntity } from '../persistence/index.js';

/** Registries and volumes that endpoints refer to. Every method is about one account. */
export class ReferencesStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  hasRegistry(accountId: AccountId, id: string): Promise<boolean> {
    return this.#database.read((manager) => manager.existsBy(RegistryEntity, { id, accountId }));
  }

  /** Those of the volumes that there are, in the order of the ids. */
  async placesOf(accountId: AccountId, volumeIds: readonly string[]): Promise<readonly VolumePlace[]> {
    if (volumeIds.length === 0) return [];
    const rows = await this.#database.read((manager) =>
      manager.find(NetworkVolumeEntity, {
        where: { accountId, id: In([...volumeIds]) },
        select: { id: true, dataCenterId: true },
      }),
    );
    return rows.toSorted((a, b) => volumeIds.indexOf(a.id) - volumeIds.indexOf(b.id));
  }
}
