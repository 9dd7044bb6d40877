import type { PodBody } from '@berth/contracts/http';
import { PlatformError, type ClusterId, type Pod, type PodId } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import type { ClustersService } from '../clusters/index.js';
import { toPodBody } from './pod.mapper.js';
import type { PodsStore } from './pods.store.js';

export interface PodsServiceOptions {
  readonly records: PodsStore;
  readonly clusters: ClustersService;
  readonly clock: Clock;
}

/** Pods of the caller's account. */
export class PodsService {
  readonly #options: PodsServiceOptions;

  constructor(options: PodsServiceOptions) {
    this.#options = options;
  }

  async list(caller: Caller, options: { readonly includesClusterPods: boolean }): Promise<readonly PodBody[]> {
    return this.#bodiesOf(await this.#options.records.list(caller.accountId, options));
  }

  /** @throws PlatformError `pod-not-found` */
  async get(caller: Caller, id: PodId): Promise<PodBody> {
    const pod = await this.#options.records.find(caller.accountId, id);
    if (pod === null) throw new PlatformError('pod-not-found', 'No such pod.');
    return toPodBody(pod, this.#options.clock.nowMs());
  }

  /** @throws PlatformError `cluster-not-found` */
  async ofCluster(caller: Caller, id: ClusterId): Promise<readonly PodBody[]> {
    const { clusters, records } = this.#options;
    await clusters.get(caller, id);
    return this.#bodiesOf(await records.ofCluster(caller.accountId, id));
  }

  #bodiesOf(pods: readonly Pod[]): readonly PodBody[] {
    const nowMs = this.#options.clock.nowMs();
    return pods.map((pod) => toPodBody(pod, nowMs));
  }
}
