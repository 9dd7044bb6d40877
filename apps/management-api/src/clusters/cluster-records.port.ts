import type { AccountId, Cluster, ClusterId, ClusterMember } from '@berth/domain';

/** Clusters as they are stored. Every method is about one account. */
export interface ClusterRecords {
  /** @throws PlatformError `invalid-api-key` when the account is gone */
  insert(cluster: Cluster): Promise<void>;
  find(accountId: AccountId, id: ClusterId): Promise<Cluster | null>;
  /** Oldest first. */
  list(accountId: AccountId): Promise<readonly Cluster[]>;
  /** What summaries need of the members: of one cluster, or of every one of the account. By rank. */
  members(accountId: AccountId, id: ClusterId | 'all'): Promise<readonly ClusterMember[]>;
}
