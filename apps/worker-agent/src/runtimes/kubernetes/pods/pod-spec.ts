import { relative, isAbsolute } from 'node:path';
import type { Toleration } from '@berth/cluster-api';
import type { V1Container, V1Pod, V1PodSpec, V1Volume } from '@kubernetes/client-node';
import { LOCAL_PREFIX, byDigest } from '../../images/image-name.js';
import { VOLUME_PATH, VOLUME_PATH_VARIABLE, type ContainerStart } from '../../container-runtime.port.js';
import { RuntimeError } from '../../runtime-error.js';
import { podName, workerAnnotations, workerLabels } from './pod-labels.js';

/** The claim that network volumes lie in, and where this agent sees it. */
interface VolumesClaim {
  readonly name: string;
  readonly folder: string;
}

export interface PodSurroundings {
  readonly namespace: string;
  readonly nodeName: string;
  /** Of the node: its Pods go with it. */
  readonly nodeUid: string;
  /** Name under which a worker finds the agent's bridge, and the address behind it; null where the name is one already. */
  readonly bridge: { readonly host: string; readonly address: string } | null;
  readonly runtimeClass: string | null;
  /** Of this agent's own Pod: a node whose taints it bears may have its workers too. */
  readonly tolerations: readonly Toleration[];
  readonly priorityClass: string | null;
  /** How long one may take to leave that is asked to by somebody else than its agent. */
  readonly graceSeconds: number;
  readonly volumes: VolumesClaim | null;
  /** Secret with the login of its image's registry; null: none is needed. */
  readonly pullSecret: string | null;
  /** Of the node: more than it has it gives nobody. */
  readonly cores: number;
  /** Processors that it is counted with, of one that it is promised: less than 1 where more are reported than there are. */
  readonly vcpuShare: number;
  /** Those that it was given, by name; `areReal`: devices stand behind them. */
  readonly gpus: { readonly names: readonly string[]; readonly areReal: boolean };
}

export const WORKER_CONTAINER = 'worker';
export const GPU_RESOURCE = 'nvidia.com/gpu';
/** Of NVIDIA's container toolkit: the device plugin says it to whom it gives a card, and nobody else may. */
const VISIBLE_DEVICES = 'NVIDIA_VISIBLE_DEVICES';
/** Else an image's own word would show it all cards of a node whose usual runtime is NVIDIA's. */
export const NO_CARDS = { name: VISIBLE_DEVICES, value: 'void' } as const;

/**
 * As with other engines: without these an image cannot give a file to a user, become one, or listen on a port below 1024.
 * The `baseline` of Pod security allows all of them.
 */
const CAPABILITIES = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];
/** Shared memory as a share of memory, as a plain Linux has it. */
const SHM_SHARE = 0.5;
const MILLI = 1_000;

export type BaseSurroundings = Pick<PodSurroundings, 'nodeName' | 'runtimeClass' | 'tolerations'>;

/** What every Pod of ours keeps to. */
export const baseSpec = ({ nodeName, runtimeClass, tolerations }: BaseSurroundings): Omit<V1PodSpec, 'containers'> => ({
  // Past the scheduler: the control plane has chosen this host.
  nodeName,
  restartPolicy: 'Never',
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  // The node's own name servers: a worker has no business with the services of the cluster.
  dnsPolicy: 'Default',
  securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
  // The scheduler is not asked, but a kubelet refuses who does not bear a taint that evicts.
  tolerations: [{ key: GPU_RESOURCE, operator: 'Exists' }, ...tolerations],
  ...(runtimeClass === null ? {} : { runtimeClassName: runtimeClass }),
});

/** It goes when its node does, whoever is left to say so. */
export const ownedByNode = ({ nodeName, nodeUid }: Pick<PodSurroundings, 'nodeName' | 'nodeUid'>) => [
  { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid },
];

/**
 * A worker as a Pod: unprivileged, with few capabilities and no way to get more, without a login of the cluster's.
 *
 * @throws RuntimeError `volume-unavailable` where its volume is in no claim
 */
export function workerPod(start: ContainerStart, around: PodSurroundings): V1Pod {
  const { labels, limits } = start;
  const { bridge, gpus, graceSeconds, namespace, priorityClass, pullSecret } = around;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name: podName(labels.workerId), namespace, ownerReferences: ownedByNode(around) },
      labels: workerLabels(labels),
      annotations: workerAnnotations(labels, { gpus: gpus.names, diskBytes: limits.diskBytes }),
    },
    spec: {
      ...baseSpec(around),
      // Its own first process takes leave of orphans, and a program that has no word for SIGTERM ends on it.
      shareProcessNamespace: true,
      terminationGracePeriodSeconds: graceSeconds,
      ...(bridge === null ? {} : { hostAliases: [{ ip: bridge.address, hostnames: [bridge.host] }] }),
      ...(priorityClass === null ? {} : { priorityClassName: priorityClass }),
      // The node may have lost its image since; and from 1.35 on a kubelet makes sure that a Pod may have what is there.
      ...(pullSecret === null ? {} : { imagePullSecrets: [{ name: pullSecret }] }),
      containers: [container(start, around)],
      volumes: volumesOf(start, around),
    },
  };
}

function container({ args, env, labels, limits, ...start }: ContainerStart, around: PodSurroundings): V1Container {
  const { image, imageDigest } = labels;
  const own = ownVariables(start, around);
  const variables = Object.entries({ ...env, ...own }).filter(([name]) => name in own || name !== VISIBLE_DEVICES);
  return {
    name: WORKER_CONTAINER,
    image: imageDigest === undefined ? image : byDigest(image, imageDigest),
    // The registry was asked when it was prepared whether this account may have it.
    imagePullPolicy: image.startsWith(LOCAL_PREFIX) ? 'Never' : 'IfNotPresent',
    ...(args.length > 0 ? { args: args.map(literally) } : {}),
    env: variables.map(([name, value]) => ({ name, value: literally(value) })),
    resources: resourcesOf({ limits, gpu: start.gpu }, around),
    securityContext: {
      privileged: false,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], add: CAPABILITIES },
    },
    volumeMounts: mountsOf(start, around),
  };
}

/** Kubernetes puts the values of variables in the place of `$(NAME)`, which nobody has asked for. */
const literally = (text: string): string => text.replaceAll('$', '$$$$');

const ownVariables = (
  { gpu, volumeFolder }: Pick<ContainerStart, 'gpu' | 'volumeFolder'>,
  { gpus }: PodSurroundings,
): Readonly<Record<string, string>> => ({
  ...(gpu === null || !gpus.areReal ? { [NO_CARDS.name]: NO_CARDS.value } : {}),
  ...(volumeFolder === undefined ? {} : { [VOLUME_PATH_VARIABLE]: VOLUME_PATH }),
});

function resourcesOf(
  { gpu, limits }: Pick<ContainerStart, 'gpu' | 'limits'>,
  { cores, gpus, vcpuShare }: PodSurroundings,
): NonNullable<V1Container['resources']> {
  const milli = Math.floor(Math.min(limits.vcpus, cores) * MILLI);
  const bounds = {
    memory: String(limits.memoryBytes),
    ...(limits.diskBytes === null ? {} : { 'ephemeral-storage': String(limits.diskBytes) }),
    ...(gpu === null || !gpus.areReal ? {} : { [GPU_RESOURCE]: String(gpu.count) }),
  };
  return {
    limits: { cpu: `${String(milli)}m`, ...bounds },
    requests: { cpu: `${String(Math.floor(milli * vcpuShare))}m`, ...bounds },
  };
}

const volumesOf = ({ limits, volumeFolder }: ContainerStart, { volumes }: PodSurroundings): V1Volume[] => [
  {
    name: 'shm',
    emptyDir: { medium: 'Memory', sizeLimit: String(Math.round(limits.memoryBytes * SHM_SHARE)) },
  },
  ...(volumeFolder === undefined || volumes === null
    ? []
    : [{ name: 'volume', persistentVolumeClaim: { claimName: volumes.name } }]),
];

function mountsOf(
  { volumeFolder }: Pick<ContainerStart, 'volumeFolder'>,
  { volumes }: PodSurroundings,
): NonNullable<V1Container['volumeMounts']> {
  const shm = { name: 'shm', mountPath: '/dev/shm' };
  if (volumeFolder === undefined) return [shm];
  const subPath = volumes === null ? '..' : relative(volumes.folder, volumeFolder);
  if (subPath === '' || subPath.startsWith('..') || isAbsolute(subPath)) {
    throw new RuntimeError(
      'volume-unavailable',
      'Its network volume is in no claim of this cluster that its host knows.',
    );
  }
  return [shm, { name: 'volume', mountPath: VOLUME_PATH, subPath }];
}
