import type { AccountId, EndpointId, FieldChange } from '@berth/domain';
import { type ChangeSeal, type Database, EndpointEntity, ReleaseEntity } from '../persistence/index.js';
import { RELEASES_MAX } from '../endpoints/index.js';

/** A release as it was made. */
export interface ReleaseRecord {
  /** Ordinal, from 1. */
  readonly release: number;
  /** Empty for the first. */
  readonly diff: readonly FieldChange[];
  /** The API key that made it; null where that was not kept yet. */
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  /** What its image stands for; null until a host has found out. */
  readonly imageDigest: string | null;
}

/** Reads only: releases are written with the endpoint that they are of. */
export class ReleasesStore {
  readonly #database: Database;
  readonly #changes: ChangeSeal;

  constructor(database: Database, changes: ChangeSeal) {
    this.#database = database;
    this.#changes = changes;
  }

  /** Of an endpoint of the account, newest first: those that are kept. */
  async ofEndpoint(accountId: AccountId, endpointId: EndpointId): Promise<readonly ReleaseRecord[]> {
    const rows = await this.#database.read((manager) =>
      manager
        .createQueryBuilder(ReleaseEntity, 'r')
        .select(['r.endpointId', 'r.release', 'r.diff', 'r.createdBy', 'r.createdAt', 'r.imageDigest'])
        .innerJoin(EndpointEntity, 'e', 'e.id = r.endpointId AND e.accountId = :accountId', { accountId })
        .where('r.endpointId = :endpointId', { endpointId })
        .orderBy('r.release', 'DESC')
        .limit(RELEASES_MAX)
        .getMany(),
    );
    return rows.map(({ createdAt, createdBy, diff, imageDigest, release }) => ({
      release,
      diff: this.#changes.open(diff as FieldChange[], { accountId, resourceId: endpointId }),
      createdBy,
      createdAtMs: createdAt.getTime(),
      imageDigest,
    }));
  }
}
