import type { Clock } from '@berth/lifecycle';
import { StartupError } from '@berth/telemetry';
import { ClusterApi } from './cluster-api.js';
import { readKubeConfig } from './read-kube-config.js';

export interface OpenClusterApiOptions {
  /** File with the way to the cluster; null: the service account of this process's own Pod. */
  readonly kubeconfig: string | null;
  /** Setting that asks for it. */
  readonly neededBy: string;
  readonly clock: Clock;
}

/** @throws StartupError where there is no way to the cluster */
export function openClusterApi({ clock, kubeconfig, neededBy }: OpenClusterApiOptions): ClusterApi {
  try {
    return new ClusterApi({ config: readKubeConfig(kubeconfig), clock });
  } catch (error) {
    const { message } = error as Error;
    throw new StartupError(`${neededBy} needs a way to the cluster, of KUBECONFIG or a service account: ${message}`, {
      cause: error,
    });
  }
}
