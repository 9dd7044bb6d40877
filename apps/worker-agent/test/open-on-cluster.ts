import type { HostId } from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, SeededRandom } from '@berth/testing';
import { KubernetesRuntime, type KubernetesRuntimeOptions } from '../src/runtimes/kubernetes/kubernetes-runtime.js';
import type { FakeCluster } from './fake-cluster.js';

/** The agent's runtime on a pretended cluster. */
export const openOnCluster = (
  api: FakeCluster,
  more: Partial<KubernetesRuntimeOptions> = {},
): Promise<KubernetesRuntime> =>
  KubernetesRuntime.open({
    ...{ api, hostId: 'host1' as HostId, clock: new ManualClock(), random: new SeededRandom(7) },
    ...{ logger: silentLogger, metrics: new MetricRegistry() },
    around: {
      ...{ namespace: 'berth-workers', nodeName: 'node1', runtimeClass: null, priorityClass: null },
      ...{ tolerations: [], graceSeconds: 5, volumes: null, bridge: null },
    },
    facts: {
      ...{ vcpus: null, simulatedGpus: null, gpuType: null },
      reserve: { memoryBytes: null, diskBytes: null },
    },
    ...more,
  });
