import { In } from 'typeorm';
import type { AccountId, VolumePlace } from '@berth/domain';
import type { ReferenceRecords } from '../../references/endpoint-references.port.js';
import type { Database } from '../database.js';
import { NetworkVolumeEntity, RegistryEntity } from '../entities/index.js';

export class ReferencesStore implements ReferenceRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  hasRegistry(accountId: AccountId, id: string): Promise<boolean> {
    return this.#database.read((manager) => manager.existsBy(RegistryEntity, { id, accountId }));
  }

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
