import { SHIPPED_CPU_FLAVORS } from './cpu-flavors.js';
import { SHIPPED_DATA_CENTERS } from './data-centers.js';
import { SHIPPED_GPU_CARDS, SHIPPED_POOL_PRICES } from './gpu-types.js';
import { HardwareCatalog, type CatalogTables } from './hardware-catalog.js';

/** The published tables (wire contract 6.5 to 6.7). */
export const SHIPPED_TABLES: CatalogTables = {
  gpuCards: SHIPPED_GPU_CARDS,
  poolPrices: new Map(Object.entries(SHIPPED_POOL_PRICES)),
  cpuFlavors: SHIPPED_CPU_FLAVORS,
  dataCenters: SHIPPED_DATA_CENTERS,
};

/** What an installation has whose operator says nothing else. */
export const SHIPPED_CATALOG = new HardwareCatalog(SHIPPED_TABLES);
