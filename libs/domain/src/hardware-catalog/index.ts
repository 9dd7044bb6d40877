export { cpuMemoryGb, LOST_FLAVOR, nearestVcpuCount, VCPU_MAX, VCPU_MIN, type CpuFlavor } from './cpu-flavors.js';
export {
  type Compliance,
  COMPLIANCE,
  type DataCenter,
  NETWORK_VOLUME_TYPES,
  type NetworkVolumeType,
  ownDataCenter,
  type Region,
  REGIONS,
} from './data-centers.js';
export { type GpuCard, type GpuManufacturer, type GpuType, manufacturerOf } from './gpu-types.js';
export { type CatalogTables, HardwareCatalog, reportedNamesOf } from './hardware-catalog.js';
export { SHIPPED_CATALOG, SHIPPED_TABLES } from './shipped-catalog.js';
