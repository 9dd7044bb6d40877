import { isIP } from 'node:net';
import type { KubeConfig } from '@kubernetes/client-node';
import type { ConfigReader } from '@berth/lifecycle';
import type { OpenProcess } from '@berth/telemetry';
import type { OpenRuntime, RuntimeDriver, RuntimeParts } from '../open-runtime.js';
import { RuntimeError } from '../runtime-error.js';
import { ClusterApi, readJsonSetting, readKubeConfig, TOLERATIONS, type Toleration } from '@berth/cluster-api';
import { askApi } from './api/cluster-errors.js';
import type { NodeObject } from './api/kube-objects.js';
import { KubernetesRuntime } from './kubernetes-runtime.js';

export interface KubernetesConfig {
  readonly kind: 'kubernetes';
  /** Null: this agent's own service account, in a Pod. */
  readonly kubeconfig: string | null;
  readonly nodeName: string;
  readonly namespace: string;
  readonly runtimeClass: string | null;
  readonly priorityClass: string | null;
  readonly tolerations: readonly Toleration[];
  /** Null: by the node's labels. */
  readonly gpuType: string | null;
  /** Null: no worker has a network volume. */
  readonly volumesClaim: string | null;
  readonly graceSeconds: number;
}

const GRACE = { min: 1, max: 24 * 3_600, fallback: 30, unit: 's' };

function readConfig(read: ConfigReader): KubernetesConfig {
  const choice = (name: string, meaning: string): string | null => read.optional(name, meaning);
  return {
    kind: 'kubernetes',
    kubeconfig: choice(
      'KUBECONFIG',
      'File with the way to the cluster. Without it the service account of its own Pod.',
    ),
    nodeName: read.string(
      'BERTH_KUBERNETES_NODE',
      'Node on which its workers run: in a DaemonSet `spec.nodeName`.',
      '',
    ),
    namespace: read.string(
      'BERTH_KUBERNETES_NAMESPACE',
      'Namespace of the workers, which holds nothing else.',
      'berth-workers',
    ),
    runtimeClass: choice('BERTH_KUBERNETES_RUNTIME_CLASS', 'Runtime class of its Pods, such as `nvidia`.'),
    priorityClass: choice('BERTH_KUBERNETES_PRIORITY_CLASS', 'Priority class of the Pods of workers.'),
    tolerations:
      readJsonSetting<readonly Toleration[]>(read, {
        name: 'BERTH_KUBERNETES_TOLERATIONS',
        meaning:
          'Tolerations of its Pods, as JSON: those of the agent, so that a node that has the one may have the others.',
        shape: TOLERATIONS,
      }) ?? [],
    gpuType: choice(
      'BERTH_KUBERNETES_GPU_TYPE',
      "What the node's GPUs are, such as `NVIDIA L4`. Without it the node's label for its product.",
    ),
    volumesClaim: choice(
      'BERTH_KUBERNETES_VOLUMES_CLAIM',
      'Claim in that namespace whose content this agent has at `BERTH_VOLUMES`.',
    ),
    graceSeconds: read.integer(
      'BERTH_KUBERNETES_GRACE_SECONDS',
      'How long a worker may take to leave that a drain of the node ends, or that has no shell.',
      GRACE,
    ),
  };
}

async function open(
  { clock, logger, metrics, random }: OpenProcess,
  config: KubernetesConfig,
  { bridge, hostId, reserve, simulatedGpus, vcpus, volumesFolder }: RuntimeParts,
): Promise<OpenRuntime> {
  const { gpuType, graceSeconds, namespace, nodeName, priorityClass, runtimeClass, tolerations, volumesClaim } = config;
  if (nodeName === '')
    throw new RuntimeError('runtime-unavailable', 'BERTH_KUBERNETES_NODE must name the node of this agent.');
  const api = new ClusterApi({ config: kubeConfig(config.kubeconfig), clock });
  const listenHost = bridge.listenHost ?? (await addressOf(api, nodeName));
  const volumes =
    volumesClaim === null || volumesFolder === null ? null : { name: volumesClaim, folder: volumesFolder };
  const runtime = await KubernetesRuntime.open({
    ...{ api, hostId, clock, logger, metrics, random },
    around: {
      ...{ namespace, nodeName, runtimeClass, priorityClass, tolerations, graceSeconds, volumes },
      // The name is made known to each worker, as an address needs no name.
      bridge: isIP(bridge.host) === 0 ? { host: bridge.host, address: listenHost } : null,
    },
    facts: { vcpus, simulatedGpus, reserve, gpuType },
  });
  logger.info('cluster found', { namespace, node: nodeName });
  // The cluster's own policy for the namespace says who may reach whom; it is not the agent's to make.
  return { runtime, listenHost, confine: async () => undefined };
}

function kubeConfig(path: string | null): KubeConfig {
  try {
    return readKubeConfig(path);
  } catch (error) {
    const { message } = error as Error;
    throw new RuntimeError('runtime-unavailable', `The way to the cluster cannot be read: ${message}`, {
      cause: error,
    });
  }
}

/** The node's own address, at which an agent in the node's network is reached by the Pods on it. */
async function addressOf(api: ClusterApi, nodeName: string): Promise<string> {
  const path = `/api/v1/nodes/${encodeURIComponent(nodeName)}`;
  const { status } = await askApi(`Node ${nodeName} cannot be seen`, () => api.ask<NodeObject>(path));
  const address = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  if (address === undefined)
    throw new RuntimeError('runtime-unavailable', `Node ${nodeName} has no address of its own.`);
  return address;
}

/** Pods reach the agent by a name that they are given for it. */
export const KUBERNETES: RuntimeDriver<KubernetesConfig> = {
  kind: 'kubernetes',
  bridge: { host: 'berth-host', listenHost: null },
  readConfig,
  open,
};
