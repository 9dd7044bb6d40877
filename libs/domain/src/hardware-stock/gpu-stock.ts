import { manufacturerOf, type DataCenter, type GpuType, type HardwareCatalog } from '../hardware-catalog/index.js';
import { acceptsCudaVersion, compareCudaVersions, parseCudaVersion } from '../hardware-request/index.js';
import type { Cloud, HostGpu, Inventory } from '../host/index.js';
import { GB_BYTES, type WorkerOption } from '../placement/index.js';
import { unitsOn, type Installation, type OpenHost } from './installation.js';
import { stockOf, type CountedHosts, type Product, type Stock } from './stock.js';

/** The availability that is asked for. Every part narrows the hosts that count. */
export interface GpuStockQuery {
  /** At least one; any of them will do. */
  readonly products: readonly Product[];
  /** GPUs of one worker or pod, all on one host. */
  readonly count: number;
  readonly cloud: Cloud;
  /** Empty: any. */
  readonly countryCodes: readonly string[];
  /** `major.minor`, exact; empty: any. */
  readonly cudaVersions: readonly string[];
  readonly minCudaVersion: string | null;
}

/** A CUDA version that hosts with the GPU offer. */
interface CudaOffer {
  readonly version: string;
  /** Whether there is room now on a host with it. */
  readonly isAvailable: boolean;
}

interface GpuStock extends Stock {
  /** Newest first. Hosts without a CUDA version count for none. */
  readonly cudaVersions: readonly CudaOffer[];
}

export interface GpuCatalogEntry {
  readonly type: GpuType;
  /** GPUs of this type in the largest host that has joined; 0 where none has any. */
  readonly maxCount: number;
  /** Whether a host that has joined pretends to have it, for trying Berth without one. */
  readonly isSimulated: boolean;
  /** Null where it was not asked for. */
  readonly stock: GpuStock | null;
}

/** The types of the catalog, then those that only hosts know, as far as they are offered for what is asked for. */
export function listGpuTypes(installation: Installation, query: GpuStockQuery | null): readonly GpuCatalogEntry[] {
  const types = [...installation.catalog.gpuTypes, ...typesOfHostsAlone(installation)];
  const offered = types.filter((type) => query === null || isOffered(type, query.products));
  const entries = offered.map((type) => entryOf(installation, type, query));
  if (query === null || query.countryCodes.length === 0) return entries;
  return entries.filter(({ stock }) => stock !== null && stock.dataCenters.length > 0);
}

/** One type, whether or not there is any of it for what is asked for; undefined where neither catalog nor host knows it. */
export function findGpuType(
  installation: Installation,
  typeId: string,
  query: GpuStockQuery | null,
): GpuCatalogEntry | undefined {
  const type = installation.catalog.gpuType(typeId) ?? typesOfHostsAlone(installation).find(({ id }) => id === typeId);
  return type === undefined ? undefined : entryOf(installation, type, query);
}

/** Endpoints choose pools, so a type in no pool is for pods and clusters only. */
const isOffered = ({ pool }: GpuType, products: readonly Product[]): boolean =>
  pool !== null || products.some((product) => product !== 'SERVERLESS');

function entryOf({ catalog, joined, open }: Installation, type: GpuType, query: GpuStockQuery | null): GpuCatalogEntry {
  const owners = joined.map(({ inventory }) => inventory).filter((inventory) => gpusOf(inventory, type.id) > 0);
  return {
    type,
    maxCount: Math.max(0, ...owners.map((inventory) => gpusOf(inventory, type.id))),
    isSimulated: owners.some(({ areGpusSimulated }) => areGpusSimulated),
    stock: query === null ? null : gpuStockOf({ catalog, hosts: open }, type, query),
  };
}

function gpuStockOf({ catalog, hosts }: CountedHosts, type: GpuType, query: GpuStockQuery): GpuStock {
  const { count, products } = query;
  const option: WorkerOption = { kind: 'gpu', rank: 0, typeId: type.id, count };
  const counted = isOffered(type, products) ? hosts.filter((host) => matches(host, query, catalog)) : [];
  return { ...stockOf({ catalog, hosts: counted }, option, products), cudaVersions: cudaOffers(counted, option) };
}

/** Every host is the operator's own, so there is no community cloud. */
const matches = ({ dataCenterId, inventory }: OpenHost, query: GpuStockQuery, catalog: HardwareCatalog): boolean =>
  query.cloud === 'SECURE' &&
  isInCountries(catalog.dataCenter(dataCenterId), query.countryCodes) &&
  acceptsCudaVersion(
    { allowedCudaVersions: query.cudaVersions, minCudaVersion: query.minCudaVersion },
    inventory.cudaVersion,
  );

const isInCountries = ({ countryCode }: DataCenter, countryCodes: readonly string[]): boolean =>
  countryCodes.length === 0 || (countryCode !== null && countryCodes.includes(countryCode));

function cudaOffers(hosts: readonly OpenHost[], option: WorkerOption): readonly CudaOffer[] {
  const suitable = hosts.filter((host) => unitsOn(host, option, 'whole') > 0);
  const versions = [...new Set(suitable.flatMap(({ inventory }) => inventory.cudaVersion ?? []))].toSorted(newestFirst);
  return versions.map((version) => ({
    version,
    isAvailable: suitable.some((host) => host.inventory.cudaVersion === version && unitsOn(host, option, 'free') > 0),
  }));
}

function newestFirst(a: string, b: string): number {
  const [left, right] = [parseCudaVersion(a), parseCudaVersion(b)];
  return left === null || right === null ? 0 : compareCudaVersions(right, left);
}

/** GPUs that the catalog does not know: what their driver calls them is all that there is to say. By name. */
function typesOfHostsAlone({ catalog, joined }: Installation): readonly GpuType[] {
  const gpus = joined
    .flatMap(({ inventory }) => inventory.gpus)
    .filter(({ typeId }) => catalog.gpuType(typeId) === undefined);
  const firstOfType = new Map(gpus.toReversed().map((gpu) => [gpu.typeId, gpu]));
  return [...firstOfType.values()].map(describeUnknown).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

const describeUnknown = ({ memoryBytes, typeId }: HostGpu): GpuType => ({
  id: typeId,
  name: typeId,
  memoryGb: Math.round(memoryBytes / GB_BYTES),
  pool: null,
  manufacturer: manufacturerOf(typeId),
  serverlessUsdPerSecond: null,
});

const gpusOf = ({ gpus }: Inventory, typeId: string): number => gpus.filter((gpu) => gpu.typeId === typeId).length;
