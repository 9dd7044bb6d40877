import { openClusterApi } from '@berth/cluster-api';
import type { Shortage } from '@berth/domain';
import type { OpenProcess } from '@berth/telemetry';
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
  const api = openClusterApi({ kubeconfig, neededBy: 'BERTH_PLACEHOLDERS', clock: parts.clock });
  const cluster = new ClusterPlaceholders({ api, around });
  const loop = new PlaceholderLoop({ ...parts, cluster, bounds });
  loop.start();
  onStop('placeholders', () => loop.stop());
}
