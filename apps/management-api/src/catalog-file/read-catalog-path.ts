import type { ConfigReader } from '@berth/lifecycle';

/** @returns null: the shipped catalog, as it is */
export const readCatalogPath = (read: ConfigReader): string | null =>
  read.optional(
    'BERTH_CATALOG_FILE',
    'JSON file with GPU types, pools, CPU flavors, data centers and prices of your own, laid over the shipped ones ([hardware catalog](hardware-catalog.md)); the management API and the controllers take the same.',
  );
