export { CPU_FLAVORS, VCPU_MIN, type CpuFlavor, cpuFlavorById, cpuMemoryGb, nearestVcpuCount } from './cpu-flavors.js';
export {
  type Compliance,
  COMPLIANCE,
  DATA_CENTERS,
  type DataCenter,
  dataCenterById,
  NETWORK_VOLUME_TYPES,
  type NetworkVolumeType,
  type Region,
  REGIONS,
} from './data-centers.js';
export {
  GPU_POOLS,
  GPU_TYPES,
  type GpuManufacturer,
  type GpuType,
  gpuTypeById,
  gpuTypesOfPool,
  manufacturerOf,
} from './gpu-types.js';
