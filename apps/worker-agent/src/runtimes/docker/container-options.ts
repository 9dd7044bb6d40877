import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import type { ContainerCreateOptions, HostConfig } from 'dockerode';
import {
  VOLUME_PATH,
  VOLUME_PATH_VARIABLE,
  type ContainerLabels,
  type ContainerStart,
} from '../container-runtime.port.js';
import { nvidiaVariable, type HeldGpus } from '../machine/held-gpus.js';
import { byDigest } from '../images/image-name.js';

export interface ContainerSurroundings {
  readonly network: string;
  /** Name under which a container finds the agent's bridge, and the address behind it. */
  readonly bridge: { readonly host: string; readonly address: string };
  /** IPv4 addresses; empty: those of the engine's machine. */
  readonly nameServers: readonly string[];
  /** Cores of the engine's machine: it refuses a container that may use more. */
  readonly cores: number;
  /** Those that it was given. */
  readonly gpus: HeldGpus;
  readonly canLimitDisk: boolean;
  /** Of the host, by number: those that may open the device files of its cards. Absent: there is none to be given. */
  readonly deviceGroups?: readonly number[];
}

/** Processes and threads together. */
const PIDS_MAX = 4_096;
/**
 * The engine's own default without `NET_RAW` (forged packets) and `MKNOD` (device files), named one by one, because
 * other engines have other defaults. Without these an image cannot give a file to a user, become one, or listen on a
 * port below 1024 as nginx does. None of them reaches beyond the container.
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
const NANOS = 1e9;
const LOG_DRIVER = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } };
/** Shared memory as a share of memory, as a plain Linux has it: the engine's 64 MB is too little for data loaders. */
const SHM_SHARE = 0.5;

export const containerName = (workerId: WorkerId): string => `berth-${workerId}`;

/**
 * A container as the engine creates it. It runs unprivileged, with few capabilities and no way to get more, with an init
 * as first process (a shell there would not pass SIGTERM on), without a mount of the host but its network volume, and in a network on which it
 * cannot reach other workers.
 */
export function containerOptions(start: ContainerStart, around: ContainerSurroundings): ContainerCreateOptions {
  const { labels, args, env } = start;
  return {
    name: containerName(labels.workerId),
    Image: labels.imageDigest === undefined ? labels.image : byDigest(labels.image, labels.imageDigest),
    // Without words of its own the endpoint leaves the image's command as it is.
    ...(args.length > 0 ? { Cmd: [...args] } : {}),
    Env: Object.entries({ ...env, ...ownVariables(start, around) }).map(([name, value]) => `${name}=${value}`),
    Labels: {
      ...toEngineLabels(labels),
      [GPUS_LABEL]: around.gpus.names.join(','),
      ...(start.limits.diskBytes === null ? {} : { [DISK_LABEL]: String(start.limits.diskBytes) }),
    },
    HostConfig: hostConfig(start, around),
  };
}

/** What GPUs it may see, and where it finds its network volume. */
const ownVariables = (
  { volumeFolder }: ContainerStart,
  { gpus }: ContainerSurroundings,
): Readonly<Record<string, string>> => ({
  ...nvidiaVariable(gpus),
  ...(volumeFolder === undefined ? {} : { [VOLUME_PATH_VARIABLE]: VOLUME_PATH }),
});

/** Not made where it is missing, as a bind in the short form would be: a volume whose folder has gone starts nothing. */
const volumeMount = (volumeFolder: string): NonNullable<HostConfig['Mounts']>[number] => ({
  Type: 'bind',
  Source: volumeFolder,
  Target: VOLUME_PATH,
  BindOptions: { Propagation: 'rprivate' },
});

function hostConfig({ limits, volumeFolder }: ContainerStart, around: ContainerSurroundings): HostConfig {
  const gpus = around.gpus.nvidia ?? [];
  const { canLimitDisk, deviceGroups = [] } = around;
  const devices = deviceFilesFor(around.gpus);
  return {
    NanoCpus: Math.round(Math.min(limits.vcpus, around.cores) * NANOS),
    Memory: limits.memoryBytes,
    // The same figure means no swap: a worker that swaps is slower than one that says it is out of memory.
    MemorySwap: limits.memoryBytes,
    ShmSize: Math.round(limits.memoryBytes * SHM_SHARE),
    PidsLimit: PIDS_MAX,
    Privileged: false,
    CapDrop: ['ALL'],
    CapAdd: CAPABILITIES,
    IpcMode: 'private',
    // A core would be written by the host, to wherever the host writes its own. How many files may be open is the
    // engine's own limit, because an engine that may not raise it starts no container that asks for more.
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
    SecurityOpt: ['no-new-privileges'],
    Init: true,
    RestartPolicy: { Name: 'no' },
    LogConfig: LOG_DRIVER,
    NetworkMode: around.network,
    ExtraHosts: [`${around.bridge.host}:${around.bridge.address}`],
    ...(around.nameServers.length > 0 ? { Dns: [...around.nameServers] } : {}),
    ...(gpus.length > 0
      ? { DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: [...gpus], Capabilities: [['gpu', 'utility', 'compute']] }] }
      : {}),
    ...(devices.length > 0 ? { Devices: devices.map(deviceFile) } : {}),
    ...(deviceGroups.length > 0 ? { GroupAdd: deviceGroups.map(String) } : {}),
    ...(volumeFolder === undefined ? {} : { Mounts: [volumeMount(volumeFolder)] }),
    ...(limits.diskBytes !== null && canLimitDisk ? { StorageOpt: { size: String(limits.diskBytes) } } : {}),
  };
}

/** By which all cards of AMD's compute; which of them, their own files say. */
const COMPUTE_DEVICE = '/dev/kfd';

/** All that a container needs to compute on its cards of AMD's; none where it holds none. */
export const deviceFilesFor = ({ renderNodes }: HeldGpus): readonly string[] =>
  renderNodes.length === 0 ? [] : [COMPUTE_DEVICE, ...renderNodes];

const deviceFile = (path: string): NonNullable<HostConfig['Devices']>[number] => ({
  ...{ PathOnHost: path, PathInContainer: path, CgroupPermissions: 'rw' },
});

export const HOST_LABEL = 'berth.host';
/** The disk limit that was asked for, in bytes, whether or not the engine keeps it. */
export const DISK_LABEL = 'berth.disk-bytes';
/**
 * Names of the GPUs that it holds, also of simulated ones: the agent's next life leaves them to it. Containers of agents
 * before 2026-11-25 have indexes there.
 */
const GPUS_LABEL = 'berth.gpus';
const DIGEST_LABEL = 'berth.image-digest';

const toEngineLabels = (labels: ContainerLabels): Record<string, string> => ({
  [HOST_LABEL]: labels.hostId,
  'berth.worker': labels.workerId,
  'berth.endpoint': labels.endpointId,
  'berth.release': String(labels.release),
  'berth.image': labels.image,
  ...(labels.imageDigest === undefined ? {} : { [DIGEST_LABEL]: labels.imageDigest }),
});

type EngineLabels = Readonly<Record<string, string | undefined>>;

export const gpuNamesOf = (labels: EngineLabels): readonly string[] =>
  (labels[GPUS_LABEL] ?? '').split(',').filter(Boolean);

/** Null for a container that is none of ours: its labels were made by somebody else. */
export function fromEngineLabels(labels: EngineLabels): ContainerLabels | null {
  const hostId = labels[HOST_LABEL];
  const workerId = labels['berth.worker'];
  const endpointId = labels['berth.endpoint'];
  if (hostId === undefined || workerId === undefined || endpointId === undefined) return null;
  const imageDigest = labels[DIGEST_LABEL];
  return {
    hostId: hostId as HostId,
    workerId: workerId as WorkerId,
    endpointId: endpointId as EndpointId,
    release: Number(labels['berth.release']),
    image: labels['berth.image'] ?? '',
    ...(imageDigest === undefined ? {} : { imageDigest }),
  };
}
