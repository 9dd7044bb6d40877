import { PlatformError, type ClusterId, type Pod, type PodId } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { ClustersService } from '../clusters/clusters-service.js';
import type { PodsStore } from './pods.store.js';

export interface PodsServiceOptions {
  readonly records: PodsStore;
  readonly clusters: ClustersService;
}

/** Pods of the caller's account. */
export class PodsService {
  readonly #options: PodsServiceOptions;

  constructor(options: PodsServiceOptions) {
    this.#options = options;
  }

  list(caller: Caller, options: { readonly includesClusterPods: boolean }): Promise<readonly Pod[]> {
    return this.#options.records.list(caller.accountId, options);
  }

  /** @throws PlatformError `pod-not-found` */
  async get(caller: Caller, id: PodId): Promise<Pod> {
    const pod = await this.#options.records.find(caller.accountId, id);
    if (pod === null) throw new PlatformError('pod-not-found', 'No such pod.');
    return pod;
  }

  /** @throws PlatformError `cluster-not-found` */
  async ofCluster(caller: Caller, id: ClusterId): Promise<readonly Pod[]> {
    const { clusters, records } = this.#options;
    await clusters.get(caller, id);
    return records.ofCluster(caller.accountId, id);
  }
}
