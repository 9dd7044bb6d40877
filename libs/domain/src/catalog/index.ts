export { AVAILABILITY_LEVELS, type AvailabilityLevel } from './availability.js';
export {
  CPU_PRODUCTS,
  findCpuFlavor,
  listCpuFlavors,
  type CpuCatalogEntry,
  type CpuProduct,
  type CpuStockQuery,
} from './cpu-catalog.js';
export {
  findDataCenter,
  listDataCenters,
  type DataCenterCatalogEntry,
  type DataCenterFilter,
  type DataCenterStockQuery,
} from './data-center-catalog.js';
export {
  COMPLIANCE,
  NETWORK_VOLUME_TYPES,
  REGIONS,
  type Compliance,
  type NetworkVolumeType,
  type Region,
} from './data-centers.js';
export { findGpuType, listGpuTypes, type GpuCatalogEntry, type GpuStockQuery } from './gpu-catalog.js';
export { installationOf, type Installation } from './installation.js';
export { PRODUCTS, type Product } from './stock.js';
