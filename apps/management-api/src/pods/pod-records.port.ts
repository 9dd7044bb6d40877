import type { AccountId, ClusterId, Pod, PodId } from '@berth/domain';

/** Pods as they are stored. Every method is about one account. */
export interface PodRecords {
  /** @throws PlatformError `invalid-api-key` when the account is gone */
  insert(pod: Pod): Promise<void>;
  find(accountId: AccountId, id: PodId): Promise<Pod | null>;
  /** Oldest first. */
  list(accountId: AccountId, options: { readonly includesClusterPods: boolean }): Promise<readonly Pod[]>;
  /** By rank; those that have none yet come last. */
  ofCluster(accountId: AccountId, clusterId: ClusterId): Promise<readonly Pod[]>;
}
