import {
  type AccountId,
  type Endpoint,
  type EndpointId,
  type FieldChange,
  healthCheckPath,
  PlatformError,
} from '@berth/domain';
import { IsNull, type EntityManager } from 'typeorm';
import {
  type ChangeSeal,
  type Database,
  EndpointEntity,
  type EnvOwner,
  type EnvSeal,
  ReleaseEntity,
  requireAccount,
  type StoredEndpointSpec,
  toEndpoint,
  violatesForeignKey,
} from '../persistence/index.js';

/** The author of a release, its instant, and what it changed. */
export interface NewRelease {
  readonly diff: readonly FieldChange[];
  /** The API key that made it. */
  readonly createdBy: string;
  readonly createdAtMs: number;
}

/** Releases kept of one endpoint. An older one stays for as long as a worker of it does: its host still asks for it. */
export const RELEASES_MAX = 1_000;

/** Seals of the parts of an endpoint that rest sealed: its variables, and the changes of them in its releases. */
export interface EndpointSeals {
  readonly envs: EnvSeal;
  readonly changes: ChangeSeal;
}

/** Every method is about one account; deleted endpoints are not there. */
export class EndpointsStore {
  readonly #database: Database;
  readonly #envs: EnvSeal;
  readonly #changes: ChangeSeal;

  constructor(database: Database, { changes, envs }: EndpointSeals) {
    this.#database = database;
    this.#changes = changes;
    this.#envs = envs;
  }

  /**
   * Stores the endpoint and its first release.
   *
   * @throws PlatformError `invalid-api-key` when the account is gone; `registry-not-found`, `network-volume-not-found`
   *   when one of them was deleted meanwhile
   */
  insert(endpoint: Endpoint, firstRelease: NewRelease): Promise<void> {
    const { accountId, createdAtMs, ...columns } = endpoint;
    const spec = this.#sealed(endpoint);
    const row = { ...columns, accountId, spec, createdAt: new Date(createdAtMs), deletedAt: null };
    return this.#database.transaction(async (manager) => {
      await requireAccount(manager, accountId);
      await withKnownReferences(async () => {
        await manager.insert(EndpointEntity, row);
        await addVolumes(manager, endpoint);
      });
      await manager.insert(ReleaseEntity, this.#releaseRow(endpoint, spec, firstRelease));
    });
  }

  async find(accountId: AccountId, id: EndpointId): Promise<Endpoint | null> {
    const row = await this.#database.read((manager) =>
      manager.findOneBy(EndpointEntity, { id, accountId, deletedAt: IsNull() }),
    );
    return row === null ? null : this.#opened(row);
  }

  /** No other transaction changes or deletes it until this one is over. */
  async lock(accountId: AccountId, id: EndpointId): Promise<Endpoint | null> {
    const row = await this.#database.transaction((manager) =>
      manager.findOne(EndpointEntity, {
        where: { id, accountId, deletedAt: IsNull() },
        lock: { mode: 'pessimistic_write' },
      }),
    );
    return row === null ? null : this.#opened(row);
  }

  /** Oldest first. */
  async list(accountId: AccountId): Promise<readonly Endpoint[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(EndpointEntity, {
        where: { accountId, deletedAt: IsNull() },
        order: { createdAt: 'ASC', id: 'ASC' },
      }),
    );
    return rows.map((row) => this.#opened(row));
  }

  /**
   * Replaces a locked endpoint.
   *
   * @param release where the endpoint has a new one; of many the oldest go
   * @throws PlatformError `registry-not-found`, `network-volume-not-found` when one of them was deleted meanwhile
   */
  update(endpoint: Endpoint, made: NewRelease | null): Promise<void> {
    const { accountId, id, release, version } = endpoint;
    const spec = this.#sealed(endpoint);
    return this.#database.transaction(async (manager) => {
      await withKnownReferences(async () => {
        await manager.update(EndpointEntity, { id, accountId }, { spec, release, version });
        if (made?.diff.some(({ field }) => field === 'networkVolumes')) await replaceVolumes(manager, endpoint);
      });
      if (made === null) return;
      await manager.insert(ReleaseEntity, this.#releaseRow(endpoint, spec, made));
      await pruneReleases(manager, endpoint);
    });
  }

  /** Marks a locked endpoint deleted, and lets go of what it refers to; its workers go before its row does. */
  delete(accountId: AccountId, id: EndpointId, nowMs: number): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await manager.update(EndpointEntity, { id, accountId }, { deletedAt: new Date(nowMs) });
      await manager.query(`DELETE FROM endpoint_volumes WHERE account_id = $1 AND endpoint_id = $2`, [accountId, id]);
      await manager.query(`DELETE FROM webhook_secrets WHERE endpoint_id = $1`, [id]);
    });
  }

  #releaseRow(
    { accountId, id: endpointId, release }: Endpoint,
    { container }: StoredEndpointSpec,
    { createdAtMs, createdBy, diff }: NewRelease,
  ): ReleaseEntity {
    const sealed = this.#changes.seal(diff, { accountId, resourceId: endpointId });
    const made = { createdBy, createdAt: new Date(createdAtMs), imageDigest: null };
    return { endpointId, release, container, diff: sealed, ...made };
  }

  #sealed(endpoint: Endpoint): StoredEndpointSpec {
    const { spec } = endpoint;
    const container = this.#envs.sealContainer(spec.container, ownerOf(endpoint));
    if (spec.type === 'QUEUE') return { ...spec, container };
    return { ...spec, container, healthCheckPath: healthCheckPath(spec.container.env) };
  }

  #opened(row: EndpointEntity): Endpoint {
    const endpoint = toEndpoint(row);
    const container = this.#envs.openContainer(row.spec.container, ownerOf(endpoint));
    return { ...endpoint, spec: { ...endpoint.spec, container } };
  }
}

const ownerOf = ({ accountId, id }: Pick<Endpoint, 'accountId' | 'id'>): EnvOwner => ({
  kind: 'endpoint',
  accountId,
  id,
});

async function addVolumes(manager: EntityManager, { accountId, id, spec }: Endpoint): Promise<void> {
  if (spec.networkVolumeIds.length === 0) return;
  await manager.query(
    `INSERT INTO endpoint_volumes (account_id, endpoint_id, volume_id) SELECT $1, $2, unnest($3::text[])
     ON CONFLICT DO NOTHING`,
    [accountId, id, spec.networkVolumeIds],
  );
}

async function replaceVolumes(manager: EntityManager, endpoint: Endpoint): Promise<void> {
  const { accountId, id, spec } = endpoint;
  await manager.query(
    `DELETE FROM endpoint_volumes WHERE account_id = $1 AND endpoint_id = $2 AND volume_id <> ALL ($3::text[])`,
    [accountId, id, spec.networkVolumeIds],
  );
  await addVolumes(manager, endpoint);
}

async function pruneReleases(manager: EntityManager, { id, release }: Endpoint): Promise<void> {
  if (release <= RELEASES_MAX) return;
  await manager.query(
    `DELETE FROM releases r WHERE r.endpoint_id = $1 AND r.release <= $2
        AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.endpoint_id = r.endpoint_id AND w.release = r.release)`,
    [id, release - RELEASES_MAX],
  );
}

/** The keys that refuse the rows are also what keeps a registry or a volume from being deleted meanwhile. */
async function withKnownReferences(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (violatesForeignKey(error, 'endpoints_registry')) {
      throw new PlatformError('registry-not-found', 'The container registry was deleted meanwhile.', { cause: error });
    }
    if (violatesForeignKey(error, 'endpoint_volumes_volume')) {
      throw new PlatformError('network-volume-not-found', 'A network volume was deleted meanwhile.', { cause: error });
    }
    throw error;
  }
}
