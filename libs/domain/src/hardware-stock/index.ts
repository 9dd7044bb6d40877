export { AVAILABILITY_LEVELS, type AvailabilityLevel } from './availability.js';
export {
  CPU_PRODUCTS,
  type CpuCatalogEntry,
  type CpuProduct,
  type CpuStockQuery,
  findCpuFlavor,
  listCpuFlavors,
} from './cpu-stock.js';
export {
  type DataCenterCatalogEntry,
  type DataCenterFilter,
  type DataCenterStockQuery,
  findDataCenter,
  listDataCenters,
} from './data-center-stock.js';
export { findGpuType, type GpuCatalogEntry, type GpuStockQuery, listGpuTypes } from './gpu-stock.js';
export { type Installation, installationOf, inWordsOf } from './installation.js';
export { type Product, PRODUCTS } from './stock.js';
