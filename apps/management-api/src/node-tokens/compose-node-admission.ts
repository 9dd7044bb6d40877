import { openClusterApi } from '@berth/cluster-api';
import type { OpenProcess } from '@berth/telemetry';
import type { HostsService } from '../hosts/index.js';
import { nodeTokenMetrics } from './metrics.js';
import { NodeAdmission } from './node-admission.js';
import type { NodeJoinConfig } from './read-node-join.js';

/**
 * @returns null: no node joins by itself
 * @throws StartupError where there is no way to the cluster
 */
export function composeNodeAdmission(
  { clock, logger, metrics }: Pick<OpenProcess, 'clock' | 'logger' | 'metrics'>,
  { config, hosts }: { readonly config: NodeJoinConfig | null; readonly hosts: HostsService },
): NodeAdmission | null {
  if (config === null) return null;
  const { kubeconfig, ...how } = config;
  const api = openClusterApi({ kubeconfig, neededBy: 'BERTH_NODE_SERVICE_ACCOUNT', clock });
  return new NodeAdmission({ ...how, api, hosts, metrics: nodeTokenMetrics(metrics), clock, logger });
}
