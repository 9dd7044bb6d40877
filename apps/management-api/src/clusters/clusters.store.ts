import type { AccountId, Cluster, ClusterId, ClusterMember, PodId } from '@berth/domain';
import { IsNull, Not } from 'typeorm';
import { ClusterEntity, type Database, PodEntity, requireAccount } from '../persistence/index.js';

/** Clusters as they are stored. Every method is about one account. */
export class ClustersStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws PlatformError `invalid-api-key` when the account is gone */
  insert({ accountId, compute, createdAtMs, id, name, network, templateId, type }: Cluster): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await requireAccount(manager, accountId);
      await manager.insert(ClusterEntity, {
        id,
        accountId,
        name,
        type,
        ...compute,
        templateId,
        networkCidr: network?.cidr ?? null,
        vxlanId: network?.vxlanId ?? null,
        vxlanPort: network?.vxlanPort ?? null,
        createdAt: new Date(createdAtMs),
      });
    });
  }

  async find(accountId: AccountId, id: ClusterId): Promise<Cluster | null> {
    const row = await this.#database.read((manager) => manager.findOneBy(ClusterEntity, { id, accountId }));
    return row === null ? null : toCluster(row);
  }

  /** Oldest first. */
  async list(accountId: AccountId): Promise<readonly Cluster[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(ClusterEntity, { where: { accountId }, order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(toCluster);
  }

  /** The members as summaries need them: of one cluster, or of every one of the account. By rank. */
  async members(accountId: AccountId, id: ClusterId | 'all'): Promise<readonly ClusterMember[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(PodEntity, {
        select: { id: true, clusterId: true, clusterRank: true, status: true, dataCenterId: true, sshDirect: true },
        where: { accountId, clusterId: id === 'all' ? Not(IsNull()) : id },
        order: { clusterRank: 'ASC', id: 'ASC' },
      }),
    );
    return rows.flatMap(toMember);
  }
}

const toCluster = (row: ClusterEntity): Cluster => ({
  id: row.id as ClusterId,
  accountId: row.accountId as AccountId,
  name: row.name,
  type: row.type,
  compute: { gpuTypeId: row.gpuTypeId, gpuCountPerPod: row.gpuCountPerPod, podCount: row.podCount },
  templateId: row.templateId,
  network: row.networkCidr === null ? null : { cidr: row.networkCidr, vxlanId: row.vxlanId, vxlanPort: row.vxlanPort },
  createdAtMs: row.createdAt.getTime(),
});

const toMember = ({ clusterId, clusterRank, dataCenterId, id, sshDirect, status }: PodEntity): ClusterMember[] =>
  clusterId === null
    ? []
    : [{ id: id as PodId, clusterId: clusterId as ClusterId, rank: clusterRank, status, dataCenterId, sshDirect }];
