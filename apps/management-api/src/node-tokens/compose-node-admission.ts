import { ClusterApi, readKubeConfig } from '@berth/cluster-api';
import { StartupError, type OpenProcess } from '@berth/telemetry';
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
  const api = new ClusterApi({ config: wayTo(kubeconfig), clock });
  return new NodeAdmission({ ...how, api, hosts, metrics: nodeTokenMetrics(metrics), clock, logger });
}

function wayTo(kubeconfig: string | null): ReturnType<typeof readKubeConfig> {
  try {
    return readKubeConfig(kubeconfig);
  } catch (error) {
    const { message } = error as Error;
    throw new StartupError(
      `BERTH_NODE_SERVICE_ACCOUNT needs a way to the cluster, of KUBECONFIG or a service account: ${message}`,
      { cause: error },
    );
  }
}
