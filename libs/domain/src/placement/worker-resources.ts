import { cpuFlavorById, cpuMemoryGb } from '../hardware-catalog/index.js';
import { selectGpu, type CpuRequest, type GpuRequest } from '../hardware-request/index.js';
import type { Inventory } from '../host/index.js';
import type { WorkerResources } from '../worker/index.js';

/** GB of memory and disk are 2^30 bytes, as container engines count them. */
export const GB_BYTES = 2 ** 30;

/** What a worker takes where its endpoint does not say (a GPU worker never says, a CPU worker's flavor does). */
const WORKER_RESOURCE_DEFAULTS = {
  vcpusPerGpu: 4,
  memoryGbPerGpu: 16,
  diskGb: 10,
} as const;

/** Exactly one of the two is set. */
export interface ComputeRequest {
  readonly gpu: GpuRequest | null;
  readonly cpu: readonly CpuRequest[] | null;
}

/** One acceptable kind of worker. `rank` is its preference from 0, the best; some may be equal. */
export type WorkerOption =
  | { readonly kind: 'gpu'; readonly rank: number; readonly typeId: string; readonly count: number }
  | { readonly kind: 'cpu'; readonly rank: number; readonly request: CpuRequest };

/** Every kind of worker that the request allows, best first; empty when its selection leaves none. */
export function workerOptions({ gpu, cpu }: ComputeRequest): readonly WorkerOption[] {
  if (gpu === null) return (cpu ?? []).map((request, rank) => ({ kind: 'cpu', rank, request }));
  return selectGpu(gpu).candidates.map(({ typeId, rank }) => ({ kind: 'gpu', rank, typeId, count: gpu.count }));
}

/**
 * What a worker takes from this host. A GPU worker takes the defaults per GPU, but never more than the GPU's even share
 * of the host, so that a host can use all of its GPUs. A CPU worker takes its vCPU, and memory by its flavor.
 *
 * @param diskGb null for the default
 */
export function workerResources(option: WorkerOption, diskGb: number | null, inventory: Inventory): WorkerResources {
  const diskBytes = (diskGb ?? WORKER_RESOURCE_DEFAULTS.diskGb) * GB_BYTES;
  if (option.kind === 'cpu') return { ...cpuShare(option.request), diskBytes, gpuTypeId: null, gpuCount: 0 };
  const perGpu = gpuShare(inventory);
  return {
    vcpus: Math.max(1, perGpu.vcpus * option.count),
    memoryBytes: perGpu.memoryBytes * option.count,
    diskBytes,
    gpuTypeId: option.typeId,
    gpuCount: option.count,
  };
}

type Share = Pick<WorkerResources, 'vcpus' | 'memoryBytes'>;

/** A flavor that the catalog has lost since the endpoint was made keeps the smallest ratio. */
function cpuShare({ flavorId, vcpuCount }: CpuRequest): Share {
  const flavor = cpuFlavorById(flavorId) ?? { ramGbPerVcpu: 2 };
  return { vcpus: vcpuCount, memoryBytes: cpuMemoryGb(flavor, vcpuCount) * GB_BYTES };
}

function gpuShare({ vcpus, memoryBytes, gpus }: Inventory): Share {
  const { vcpusPerGpu, memoryGbPerGpu } = WORKER_RESOURCE_DEFAULTS;
  const hostGpus = Math.max(1, gpus.length);
  return {
    vcpus: Math.min(vcpusPerGpu, Math.floor(vcpus / hostGpus)),
    memoryBytes: Math.min(memoryGbPerGpu * GB_BYTES, Math.floor(memoryBytes / hostGpus)),
  };
}
