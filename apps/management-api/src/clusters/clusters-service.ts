import { PlatformError, summarizeCluster, type Cluster, type ClusterId, type ClusterSummary } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { ClustersStore } from './clusters.store.js';

/** A cluster with what its members tell of it. */
export interface SummarizedCluster {
  readonly cluster: Cluster;
  readonly summary: ClusterSummary;
}

/** Clusters of the caller's account. */
export class ClustersService {
  readonly #records: ClustersStore;

  constructor(records: ClustersStore) {
    this.#records = records;
  }

  async list({ accountId }: Caller): Promise<readonly SummarizedCluster[]> {
    const clusters = await this.#records.list(accountId);
    const members = Map.groupBy(await this.#records.members(accountId, 'all'), ({ clusterId }) => clusterId);
    return clusters.map((cluster) => ({ cluster, summary: summarizeCluster(members.get(cluster.id) ?? []) }));
  }

  /** @throws PlatformError `cluster-not-found` */
  async get({ accountId }: Caller, id: ClusterId): Promise<SummarizedCluster> {
    const cluster = await this.#records.find(accountId, id);
    if (cluster === null) throw new PlatformError('cluster-not-found', 'No such cluster.');
    return { cluster, summary: summarizeCluster(await this.#records.members(accountId, id)) };
  }
}
