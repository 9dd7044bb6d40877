import { CPU_FLAVORS, cpuFlavorById, type CpuFlavor } from '../hardware-catalog/index.js';
import type { Installation } from './installation.js';
import { stockOf, type Product, type Stock } from './stock.js';

/** The products that CPU hardware is for; there are no clusters of it. */
export const CPU_PRODUCTS = ['POD', 'SERVERLESS'] as const satisfies readonly Product[];
export type CpuProduct = (typeof CPU_PRODUCTS)[number];

export interface CpuStockQuery {
  /** At least one; any of them will do. Every flavor is for all of them. */
  readonly products: readonly CpuProduct[];
  /** Of one worker or pod; null: the flavor's fewest. */
  readonly vcpuCount: number | null;
}

export interface CpuCatalogEntry {
  readonly flavor: CpuFlavor;
  /** Null where it was not asked for. */
  readonly stock: Stock | null;
}

export const listCpuFlavors = (installation: Installation, query: CpuStockQuery | null): readonly CpuCatalogEntry[] =>
  CPU_FLAVORS.map((flavor) => entryOf(installation, flavor, query));

/** Undefined for a flavor that the table does not have. */
export function findCpuFlavor(
  installation: Installation,
  flavorId: string,
  query: CpuStockQuery | null,
): CpuCatalogEntry | undefined {
  const flavor = cpuFlavorById(flavorId);
  return flavor === undefined ? undefined : entryOf(installation, flavor, query);
}

const entryOf = (installation: Installation, flavor: CpuFlavor, query: CpuStockQuery | null): CpuCatalogEntry => ({
  flavor,
  stock: query === null ? null : cpuStockOf(installation, flavor, query),
});

/** A size that the flavor does not have is nowhere. */
function cpuStockOf({ open }: Installation, flavor: CpuFlavor, { products, vcpuCount }: CpuStockQuery): Stock {
  const count = vcpuCount ?? flavor.vcpuMin;
  const hosts = count >= flavor.vcpuMin && count <= flavor.vcpuMax ? open : [];
  return stockOf(hosts, { kind: 'cpu', rank: 0, request: { flavorId: flavor.id, vcpuCount: count } }, products);
}
