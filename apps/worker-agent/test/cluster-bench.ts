import { chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import type { HostId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { WORKERS_NAMESPACE, giveAgentAccess, type ClusterFixture } from '@berth/testing/containers';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ClusterApi } from '@berth/cluster-api';
import { KubernetesRuntime, type KubernetesRuntimeOptions } from '../src/runtimes/kubernetes/kubernetes-runtime.js';

type Cluster = ClusterFixture['cluster'];

const VOLUMES_CLAIM = 'volumes';
/** What the probe needs of the programs of busybox. */
const PROGRAMS = ['sh', 'cat', 'echo', 'head', 'nc', 'printf', 'sleep', 'tail', 'wc'];
/** Debian's busybox has none. */
const PRINTENV = '#!/bin/sh\neval "echo \\"\\$$1\\""\n';

/** Of a runtime, where it differs from the others of a bench. */
interface OtherOptions extends Partial<Omit<KubernetesRuntimeOptions, 'around'>> {
  readonly around?: Partial<KubernetesRuntimeOptions['around']>;
}

/** A cluster on which an agent may run workers, with no more rights than it is given elsewhere. */
export interface ClusterBench {
  /** Of the agent. */
  readonly kubeconfig: string;
  /** Of this machine, which is the one of the claim for volumes. */
  readonly volumesFolder: string;
  open(hostId: string, more?: OtherOptions): Promise<KubernetesRuntime>;
}

/** @param folder for what it writes; whoever made it removes it, after the cluster */
export async function openClusterBench(cluster: Cluster, folder: string): Promise<ClusterBench> {
  const kubeconfig = join(folder, 'agent.conf');
  await giveAgentAccess(cluster, kubeconfig);
  const volumesFolder = join(folder, 'volumes');
  await makeClaim(cluster, volumesFolder);
  return {
    ...{ kubeconfig, volumesFolder },
    open: (hostId, more = {}) => openKubernetes(cluster, { hostId, kubeconfig, volumesFolder, more }),
  };
}

/** Gives the node GPUs, as a device plugin would, of which the kubelet knows no more than how many there are. */
export async function giveGpus(cluster: Cluster, product: string, count: number): Promise<void> {
  const capacity = { 'nvidia.com/gpu': String(count) };
  await cluster.kubectl('label', 'node', cluster.nodeName, `nvidia.com/gpu.product=${product}`, '--overwrite');
  const patch = JSON.stringify({ status: { capacity } });
  await cluster.kubectl('patch', 'node', cluster.nodeName, '--subresource=status', '--type=merge', '--patch', patch);
  const allocatable = `jsonpath={.status.allocatable.nvidia\\.com/gpu}=${String(count)}`;
  await cluster.kubectl('wait', `--for=${allocatable}`, `node/${cluster.nodeName}`, '--timeout=60s');
}

/** A file system of busybox, for an image. */
export async function makeSmallRoot(folder: string): Promise<string> {
  const root = join(folder, 'root');
  await mkdir(join(root, 'bin'), { recursive: true });
  await mkdir(join(root, 'tmp'));
  await chmod(join(root, 'tmp'), 0o1777);
  await cp('/bin/busybox', join(root, 'bin', 'busybox'));
  for (const program of PROGRAMS) await symlink('busybox', join(root, 'bin', program));
  await writeFile(join(root, 'bin', 'printenv'), PRINTENV, { mode: 0o755 });
  return root;
}

interface OpenOptions {
  readonly hostId: string;
  readonly kubeconfig: string;
  readonly volumesFolder: string;
  readonly more: OtherOptions;
}

function openKubernetes(cluster: Cluster, { hostId, kubeconfig, more, volumesFolder }: OpenOptions) {
  const { around, ...others } = more;
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return KubernetesRuntime.open({
    api: new ClusterApi({ config, clock: systemClock }),
    hostId: hostId as HostId,
    around: {
      ...{ namespace: WORKERS_NAMESPACE, nodeName: cluster.nodeName, runtimeClass: null, priorityClass: null },
      ...{ tolerations: [], graceSeconds: 5, volumes: { name: VOLUMES_CLAIM, folder: volumesFolder } },
      bridge: { host: 'berth-host', address: cluster.machineAddress },
      ...around,
    },
    facts: {
      ...{ vcpus: null, simulatedGpus: null, gpuType: null },
      reserve: { memoryBytes: null, diskBytes: null },
    },
    ...{ clock: systemClock, random: systemRandom, logger: silentLogger, metrics: new MetricRegistry() },
    ...others,
  });
}

async function makeClaim(cluster: Cluster, volumesFolder: string): Promise<void> {
  await mkdir(volumesFolder, { recursive: true });
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteMany'], storageClassName: '' };
  const volume = { hostPath: { path: volumesFolder }, persistentVolumeReclaimPolicy: 'Retain' };
  const claim = { volumeName: 'volumes', resources: { requests: { storage: '1Gi' } } };
  const items = [
    { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'volumes' }, spec: { ...spec, ...volume } },
    {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      metadata: { name: VOLUMES_CLAIM, namespace: WORKERS_NAMESPACE },
      spec: { accessModes: spec.accessModes, storageClassName: '', ...claim },
    },
  ];
  const file = `${volumesFolder}.json`;
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await cluster.kubectl('apply', '--filename', file);
}
