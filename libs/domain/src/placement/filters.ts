import { acceptsCudaVersion } from '../hardware-request/index.js';
import { isHostLive, type Host, type Inventory } from '../host/index.js';
import type { WorkerResources } from '../worker/index.js';
import type { FreeResources } from './free-resources.js';
import type { PlacementRequest } from './placement-request.js';
import { explainUnreached, reachesVolume } from './volume-storage.js';
import { GB_BYTES, type WorkerOption } from './worker-resources.js';

/** One way to put the worker on a host that has joined. */
export interface Fit {
  readonly request: PlacementRequest;
  readonly option: WorkerOption;
  readonly host: Host;
  readonly inventory: Inventory;
  readonly free: FreeResources;
  readonly resources: WorkerResources;
  readonly nowMs: number;
}

export type FilterReason =
  | 'host-silent'
  | 'host-draining'
  | 'host-cordoned'
  | 'data-center'
  | 'network-volume'
  | 'gpu-type'
  | 'cuda-version'
  | 'gpu-count'
  | 'gpu-busy'
  | 'vcpu'
  | 'memory'
  | 'disk';

export interface Filter {
  readonly reason: FilterReason;
  readonly passes: (fit: Fit) => boolean;
  /** What the host lacks: a sentence without its full stop. */
  readonly explain: (fit: Fit) => string;
}

/** In the order in which they are asked: the later one fails, the nearer the host came. */
export const FILTERS: readonly Filter[] = [
  {
    reason: 'host-silent',
    passes: ({ host, nowMs }) => isHostLive(host, nowMs),
    explain: () => 'the host has not been heard of lately',
  },
  {
    reason: 'host-draining',
    passes: ({ host }) => host.intent !== 'draining',
    explain: () => 'the host is being drained',
  },
  {
    reason: 'host-cordoned',
    passes: ({ host }) => host.intent !== 'cordoned',
    explain: () => 'the host is cordoned',
  },
  {
    reason: 'data-center',
    passes: ({ request: { dataCenterIds }, host }) =>
      dataCenterIds.length === 0 || dataCenterIds.includes(host.dataCenterId),
    explain: ({ request, host }) => `the host is in ${host.dataCenterId}, not in ${request.dataCenterIds.join(', ')}`,
  },
  {
    reason: 'network-volume',
    // A worker has the volume of its own center: with volumes in several it may go to any of them.
    passes: ({ request: { volumeDataCenterIds }, host }) =>
      volumeDataCenterIds.length === 0 || volumeDataCenterIds.includes(host.dataCenterId),
    explain: ({ request, host }) =>
      `the host is in ${host.dataCenterId}, network volumes lie in ${request.volumeDataCenterIds.join(', ')}`,
  },
  {
    reason: 'network-volume',
    passes: reachesVolume,
    explain: (fit) => explainUnreached(fit) ?? '',
  },
  {
    reason: 'gpu-type',
    passes: ({ resources, inventory }) => resources.gpuTypeId === null || gpusOf(inventory, resources.gpuTypeId) > 0,
    explain: ({ inventory }) => `the host has no GPU of the wanted types, ${describeGpus(inventory)}`,
  },
  {
    reason: 'cuda-version',
    passes: ({ request: { gpu }, inventory }) => gpu === null || acceptsCudaVersion(gpu, inventory.cudaVersion),
    explain: ({ inventory }) =>
      inventory.cudaVersion === null
        ? 'the host reports no CUDA version'
        : `the host's driver offers CUDA ${inventory.cudaVersion}`,
  },
  {
    reason: 'gpu-count',
    passes: ({ resources: { gpuTypeId, gpuCount }, inventory }) => gpusOf(inventory, gpuTypeId) >= gpuCount,
    explain: ({ resources: { gpuTypeId, gpuCount }, inventory }) =>
      `the worker needs ${gpuCount} × ${gpuTypeId}, the host has ${gpusOf(inventory, gpuTypeId)}`,
  },
  {
    reason: 'gpu-busy',
    passes: ({ resources: { gpuTypeId, gpuCount }, free }) => freeGpusOf(free, gpuTypeId) >= gpuCount,
    explain: ({ resources: { gpuTypeId, gpuCount }, free }) =>
      `the worker needs ${gpuCount} × ${gpuTypeId}, ${freeGpusOf(free, gpuTypeId)} are free`,
  },
  {
    reason: 'vcpu',
    passes: ({ resources, free }) => resources.vcpus <= free.vcpus,
    explain: ({ resources, free }) => `the worker needs ${resources.vcpus} vCPU, ${free.vcpus} are free`,
  },
  {
    reason: 'memory',
    passes: ({ resources, free }) => resources.memoryBytes <= free.memoryBytes,
    explain: ({ resources, free }) =>
      `the worker needs ${inGb(resources.memoryBytes)} of memory, ${inGb(free.memoryBytes)} are free`,
  },
  {
    reason: 'disk',
    passes: ({ resources, free }) => resources.diskBytes <= free.diskBytes,
    explain: ({ resources, free }) =>
      `the worker needs ${inGb(resources.diskBytes)} of disk, ${inGb(free.diskBytes)} are free`,
  },
];

const gpusOf = ({ gpus }: Inventory, typeId: string | null): number =>
  gpus.filter((gpu) => gpu.typeId === typeId).length;

const freeGpusOf = ({ gpus }: FreeResources, typeId: string | null): number =>
  typeId === null ? 0 : (gpus.get(typeId) ?? 0);

function describeGpus({ gpus }: Inventory): string {
  const types = [...new Set(gpus.map(({ typeId }) => typeId))].toSorted();
  return types.length === 0 ? 'and none at all' : `only ${types.join(', ')}`;
}

const inGb = (bytes: number): string => `${(bytes / GB_BYTES).toFixed(1)} GB`;
