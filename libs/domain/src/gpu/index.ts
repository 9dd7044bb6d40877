export type { CpuRequest, GpuRequest } from './compute-request.js';
export { CPU_FLAVORS, cpuFlavorById, cpuMemoryGb, nearestVcpuCount, type CpuFlavor } from './cpu-flavors.js';
export { acceptsCudaVersion, compareCudaVersions, parseCudaVersion } from './cuda-version.js';
export {
  GPU_POOLS,
  GPU_TYPES,
  gpuTypeById,
  gpuTypesOfPool,
  manufacturerOf,
  type GpuManufacturer,
  type GpuType,
} from './gpu-types.js';
export { requestTypes } from './request-types.js';
export { selectGpu } from './select-gpu.js';
