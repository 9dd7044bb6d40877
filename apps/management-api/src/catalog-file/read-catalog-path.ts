import type { ConfigReader } from '@berth/lifecycle';

/** @returns null: the shipped catalog, as it is */
export const readCatalogPath = (read: ConfigReader): string | null =>
  read.optional(
    'BERTH_CATALOG_FILE',
    'JSON file with hardware and prices of your own, laid over the shipped ones (`docs/hardware-catalog.md`); the API and the controllers take the same.',
  );
