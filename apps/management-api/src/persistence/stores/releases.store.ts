import type { AccountId, EndpointId, FieldChange } from '@berth/domain';
import type { ReleaseRecord, ReleaseRecords } from '../../releases/release-records.port.js';
import type { ChangeSeal } from '../change-seal.js';
import type { Database } from '../database.js';
import { EndpointEntity, ReleaseEntity } from '../entities/index.js';
import { RELEASES_MAX } from './endpoints.store.js';

/** Reads only: releases are written with the endpoint that they are of. */
export class ReleasesStore implements ReleaseRecords {
  readonly #database: Database;
  readonly #changes: ChangeSeal;

  constructor(database: Database, changes: ChangeSeal) {
    this.#database = database;
    this.#changes = changes;
  }

  async ofEndpoint(accountId: AccountId, endpointId: EndpointId): Promise<readonly ReleaseRecord[]> {
    const rows = await this.#database.read((manager) =>
      manager
        .createQueryBuilder(ReleaseEntity, 'r')
        .select(['r.endpointId', 'r.release', 'r.diff', 'r.createdBy', 'r.createdAt'])
        .innerJoin(EndpointEntity, 'e', 'e.id = r.endpointId AND e.accountId = :accountId', { accountId })
        .where('r.endpointId = :endpointId', { endpointId })
        .orderBy('r.release', 'DESC')
        .limit(RELEASES_MAX)
        .getMany(),
    );
    return rows.map(({ createdAt, createdBy, diff, release }) => ({
      release,
      diff: this.#changes.open(diff as FieldChange[], { accountId, resourceId: endpointId }),
      createdBy,
      createdAtMs: createdAt.getTime(),
    }));
  }
}
