import type { AccountId, ClusterId, Pod, PodId } from '@berth/domain';
import { In, IsNull, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { type Database, PodEntity, PodVolumeEntity, requireAccount } from '../persistence/index.js';
import { podRow, toPod } from './pod-rows.js';

/** Pods as they are stored. Every method is about one account. */
export class PodsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws PlatformError `invalid-api-key` when the account is gone */
  insert(pod: Pod): Promise<void> {
    const { accountId, id, networkMounts } = pod;
    return this.#database.transaction(async (manager) => {
      await requireAccount(manager, accountId);
      await manager.insert(PodEntity, podRow(pod));
      const volumes = networkMounts.map((mount) => ({ accountId, podId: id, ...mount }));
      await manager.insert(PodVolumeEntity, volumes);
    });
  }

  async find(accountId: AccountId, id: PodId): Promise<Pod | null> {
    const [pod = null] = await this.#find({ accountId, id }, 'by-age');
    return pod;
  }

  /** Oldest first. */
  list(accountId: AccountId, options: { readonly includesClusterPods: boolean }): Promise<readonly Pod[]> {
    const { includesClusterPods } = options;
    return this.#find({ accountId, ...(includesClusterPods ? {} : { clusterId: IsNull() }) }, 'by-age');
  }

  /** By rank; those that have none yet come last. */
  ofCluster(accountId: AccountId, clusterId: ClusterId): Promise<readonly Pod[]> {
    return this.#find({ accountId, clusterId }, 'by-rank');
  }

  #find(
    where: FindOptionsWhere<PodEntity> & { readonly accountId: AccountId },
    sorted: 'by-age' | 'by-rank',
  ): Promise<readonly Pod[]> {
    return this.#database.read(async (manager) => {
      const rows = await manager.find(PodEntity, {
        where,
        order: { ...(sorted === 'by-rank' ? { clusterRank: 'ASC' } : {}), createdAt: 'ASC', id: 'ASC' },
      });
      const volumes = await volumesOf(manager, where.accountId, rows);
      return rows.map((row) => toPod(row, volumes.get(row.id) ?? []));
    });
  }
}

async function volumesOf(
  manager: EntityManager,
  accountId: AccountId,
  pods: readonly PodEntity[],
): Promise<ReadonlyMap<string, readonly PodVolumeEntity[]>> {
  if (pods.length === 0) return new Map();
  const rows = await manager.find(PodVolumeEntity, {
    where: { accountId, podId: In(pods.map(({ id }) => id)) },
    order: { path: 'ASC' },
  });
  return Map.groupBy(rows, ({ podId }) => podId);
}
