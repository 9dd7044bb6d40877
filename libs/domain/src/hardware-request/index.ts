export { type CpuRequest, type GpuRequest } from './compute-request.js';
export { acceptsCudaVersion, compareCudaVersions, parseCudaVersion } from './cuda-version.js';
export { requestTypes } from './request-types.js';
export { selectGpu } from './select-gpu.js';
