export type { CpuRequest, GpuRequest } from './compute-request.js';
export { CPU_FLAVORS, cpuFlavorById, cpuMemoryGb, type CpuFlavor } from './cpu-flavors.js';
export { acceptsCudaVersion, compareCudaVersions, parseCudaVersion, type CudaVersion } from './cuda-version.js';
export { GPU_POOLS, GPU_TYPES, gpuTypeById, gpuTypesOfPool, type GpuManufacturer, type GpuType } from './gpu-types.js';
export { selectGpu, type GpuCandidate, type GpuSelection } from './select-gpu.js';
