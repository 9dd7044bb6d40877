import { ClusterApi, readKubeConfig } from '@berth/cluster-api';
import type { Shortage } from '@berth/domain';
import { StartupError, type OpenProcess } from '@berth/telemetry';
import type { LeaderLease } from '../leadership/index.js';
import { ClusterPlaceholders } from './cluster-placeholders.js';
import { PlaceholderLoop } from './placeholder-loop.js';
import type { PlaceholdersConfig } from './read-placeholders.js';

export interface PlaceholderParts extends OpenProcess {
  readonly config: PlaceholdersConfig;
  readonly lease: LeaderLease;
  readonly shortages: () => readonly Shortage[] | null;
}

/** @throws StartupError where there is no way to the cluster */
export function startPlaceholders({ config, onStop, ...parts }: PlaceholderParts): void {
  const { around, bounds, kubeconfig } = config;
  const cluster = new ClusterPlaceholders({ api: apiOf(kubeconfig, parts.clock), around });
  const loop = new PlaceholderLoop({ ...parts, cluster, bounds });
  loop.start();
  onStop('placeholders', () => loop.stop());
}

function apiOf(kubeconfig: string | null, clock: OpenProcess['clock']): ClusterApi {
  try {
    return new ClusterApi({ config: readKubeConfig(kubeconfig), clock });
  } catch (error) {
    const { message } = error as Error;
    throw new StartupError(
      `BERTH_PLACEHOLDERS needs a way to the cluster, of KUBECONFIG or a service account: ${message}`,
      {
        cause: error,
      },
    );
  }
}
