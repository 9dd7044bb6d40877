import { CPU_PRODUCTS, listCpuFlavors } from './cpu-stock.js';
import {
  type Compliance,
  type DataCenter,
  type NetworkVolumeType,
  type Region,
  ownDataCenter,
} from '../hardware-catalog/index.js';
import { listGpuTypes } from './gpu-stock.js';
import type { Installation } from './installation.js';
import { PRODUCTS, type Stock, type StockLine } from './stock.js';

/** Families of conditions; all of them have to hold. */
export interface DataCenterFilter {
  /** One of them; empty: any. */
  readonly regions: readonly Region[];
  /** All of them. */
  readonly networkVolumeTypes: readonly NetworkVolumeType[];
  /** All of them. */
  readonly compliance: readonly Compliance[];
  /** Null: either. */
  readonly hasGlobalNetwork: boolean | null;
}

/** The stock that is asked for beside the data centers themselves. */
export interface DataCenterStockQuery {
  readonly gpus: boolean;
  readonly cpus: boolean;
}

export interface DataCenterCatalogEntry {
  readonly dataCenter: DataCenter;
  /** GPU types that its hosts have, with the room for workers with one GPU; null where it was not asked for. */
  readonly gpus: readonly StockLine[] | null;
  /** CPU flavors that its hosts can run, with the room for workers of the smallest size; null likewise. */
  readonly cpus: readonly StockLine[] | null;
}

/** Those of the catalog, then those that only hosts name, by id. */
export const listDataCenters = (
  installation: Installation,
  filter: DataCenterFilter,
  query: DataCenterStockQuery,
): readonly DataCenterCatalogEntry[] =>
  entriesOf(
    installation,
    allDataCenters(installation).filter((dataCenter) => matchesFilter(dataCenter, filter)),
    query,
  );

/** Undefined where neither the catalog nor a host that has joined knows it. */
export const findDataCenter = (
  installation: Installation,
  id: string,
  query: DataCenterStockQuery,
): DataCenterCatalogEntry | undefined =>
  entriesOf(
    installation,
    allDataCenters(installation).filter((dataCenter) => dataCenter.id === id),
    query,
  )[0];

function allDataCenters({ catalog, joined }: Installation): readonly DataCenter[] {
  const known = new Set(catalog.dataCenters.map(({ id }) => id));
  const ofHosts = new Set(joined.map(({ dataCenterId }) => dataCenterId));
  const ofHostsAlone = [...ofHosts].filter((id) => !known.has(id)).toSorted();
  return [...catalog.dataCenters, ...ofHostsAlone.map(ownDataCenter)];
}

export function matchesFilter(dataCenter: DataCenter, filter: DataCenterFilter): boolean {
  const { compliance, hasGlobalNetwork, networkVolumeTypes, region } = dataCenter;
  return (
    (filter.regions.length === 0 || filter.regions.includes(region)) &&
    filter.networkVolumeTypes.every((type) => networkVolumeTypes.includes(type)) &&
    filter.compliance.every((standard) => compliance.includes(standard)) &&
    (filter.hasGlobalNetwork === null || filter.hasGlobalNetwork === hasGlobalNetwork)
  );
}

function entriesOf(
  installation: Installation,
  dataCenters: readonly DataCenter[],
  query: DataCenterStockQuery,
): readonly DataCenterCatalogEntry[] {
  const gpus = query.gpus ? gpuStockByDataCenter(installation) : null;
  const cpus = query.cpus ? cpuStockByDataCenter(installation) : null;
  return dataCenters.map((dataCenter) => ({
    dataCenter,
    gpus: gpus === null ? null : (gpus.get(dataCenter.id) ?? []),
    cpus: cpus === null ? null : (cpus.get(dataCenter.id) ?? []),
  }));
}

/** Lines by the id of the data center that they are about. */
type StockByDataCenter = ReadonlyMap<string, readonly StockLine[]>;

const gpuStockByDataCenter = (installation: Installation): StockByDataCenter =>
  byDataCenter(listGpuTypes(installation, ANY_GPU).map(({ stock, type }) => ({ id: type.id, name: type.name, stock })));

const cpuStockByDataCenter = (installation: Installation): StockByDataCenter =>
  byDataCenter(
    listCpuFlavors(installation, ANY_CPU).map(({ flavor, stock }) => ({ id: flavor.id, name: flavor.name, stock })),
  );

const ANY_CPU = { products: CPU_PRODUCTS, vcpuCount: null };
const ANY_GPU = {
  products: PRODUCTS,
  count: 1,
  cloud: 'SECURE',
  countryCodes: [],
  cudaVersions: [],
  minCudaVersion: null,
} as const;

function byDataCenter(
  things: readonly { readonly id: string; readonly name: string; readonly stock: Stock | null }[],
): StockByDataCenter {
  const lines = new Map<string, StockLine[]>();
  for (const { id, name, stock } of things) {
    for (const { id: dataCenterId, availability } of stock?.dataCenters ?? []) {
      lines.set(dataCenterId, [...(lines.get(dataCenterId) ?? []), { id, name, availability }]);
    }
  }
  return lines;
}
