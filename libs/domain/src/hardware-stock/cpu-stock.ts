import { cpuMemoryGb, type CpuFlavor } from '../hardware-catalog/index.js';
import type { Installation } from './installation.js';
import type { WorkerOption } from '../placement/index.js';
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
  installation.catalog.cpuFlavors.map((flavor) => entryOf(installation, flavor, query));

/** Undefined for a flavor that the catalog does not have. */
export function findCpuFlavor(
  installation: Installation,
  flavorId: string,
  query: CpuStockQuery | null,
): CpuCatalogEntry | undefined {
  const flavor = installation.catalog.cpuFlavor(flavorId);
  return flavor === undefined ? undefined : entryOf(installation, flavor, query);
}

const entryOf = (installation: Installation, flavor: CpuFlavor, query: CpuStockQuery | null): CpuCatalogEntry => ({
  flavor,
  stock: query === null ? null : cpuStockOf(installation, flavor, query),
});

/** A size that the flavor does not have is nowhere. */
function cpuStockOf({ catalog, open }: Installation, flavor: CpuFlavor, query: CpuStockQuery): Stock {
  const vcpuCount = query.vcpuCount ?? flavor.vcpuMin;
  const hosts = vcpuCount >= flavor.vcpuMin && vcpuCount <= flavor.vcpuMax ? open : [];
  const request = { flavorId: flavor.id, vcpuCount };
  const option: WorkerOption = { kind: 'cpu', rank: 0, request, memoryGb: cpuMemoryGb(flavor, vcpuCount) };
  return stockOf({ catalog, hosts }, option, query.products);
}
