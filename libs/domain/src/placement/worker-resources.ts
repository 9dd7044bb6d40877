import { cpuMemoryGb, reportedNamesOf, type HardwareCatalog } from '../hardware-catalog/index.js';
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

/** Disk of a worker whose endpoint does not say. */
export const WORKER_DISK_GB = WORKER_RESOURCE_DEFAULTS.diskGb;

/** Exactly one of `gpu` and `cpu` is set. */
export interface ComputeRequest {
  /** In whose words they are. */
  readonly catalog: HardwareCatalog;
  readonly gpu: GpuRequest | null;
  readonly cpu: readonly CpuRequest[] | null;
}

/** One acceptable kind of worker. `rank` is its preference from 0, the best; some may be equal. */
export type WorkerOption =
  /** `typeId` is what the driver calls the card. */
  | { readonly kind: 'gpu'; readonly rank: number; readonly typeId: string; readonly count: number }
  | { readonly kind: 'cpu'; readonly rank: number; readonly request: CpuRequest; readonly memoryGb: number };

/**
 * Every kind of worker that the request allows, best first; empty when its selection leaves none, and when the catalog has
 * lost all that it names. Each name by which drivers report a GPU type is an option of its own (ADR 0063).
 */
export function workerOptions({ catalog, cpu, gpu }: ComputeRequest): readonly WorkerOption[] {
  if (gpu === null) return (cpu ?? []).flatMap((request, rank) => cpuOption(request, rank, catalog));
  return selectGpu(gpu, catalog).candidates.flatMap(({ typeId, rank }) => {
    const type = catalog.gpuType(typeId);
    const names = type === undefined ? [] : reportedNamesOf(type);
    return names.map((name): WorkerOption => ({ kind: 'gpu', rank, typeId: name, count: gpu.count }));
  });
}

function cpuOption(request: CpuRequest, rank: number, catalog: HardwareCatalog): readonly WorkerOption[] {
  const flavor = catalog.cpuFlavor(request.flavorId);
  if (flavor === undefined) return [];
  return [{ kind: 'cpu', rank, request, memoryGb: cpuMemoryGb(flavor, request.vcpuCount) }];
}

/**
 * What a worker takes from this host. A GPU worker takes the defaults per GPU, but never more than the GPU's even share
 * of the host, so that a host can use all of its GPUs. A CPU worker takes its vCPU, and memory by its flavor.
 *
 * @param diskGb null for the default
 */
export function workerResources(option: WorkerOption, diskGb: number | null, inventory: Inventory): WorkerResources {
  const diskBytes = (diskGb ?? WORKER_RESOURCE_DEFAULTS.diskGb) * GB_BYTES;
  if (option.kind === 'cpu') {
    const share = { vcpus: option.request.vcpuCount, memoryBytes: option.memoryGb * GB_BYTES };
    return { ...share, diskBytes, gpuTypeId: null, gpuCount: 0 };
  }
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

function gpuShare({ vcpus, memoryBytes, gpus }: Inventory): Share {
  const { vcpusPerGpu, memoryGbPerGpu } = WORKER_RESOURCE_DEFAULTS;
  const hostGpus = Math.max(1, gpus.length);
  return {
    vcpus: Math.min(vcpusPerGpu, Math.floor(vcpus / hostGpus)),
    memoryBytes: Math.min(memoryGbPerGpu * GB_BYTES, Math.floor(memoryBytes / hostGpus)),
  };
}
