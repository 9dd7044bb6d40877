import type { GpuRequest } from './compute-request.js';
import type { HardwareCatalog } from '../hardware-catalog/index.js';

/** A selection by types, said in pools. */
export interface RequestedTypes {
  readonly selection: Required<Pick<GpuRequest, 'pools' | 'excludedTypes' | 'preferredTypes'>>;
  /** Named types that the catalog does not have. */
  readonly unknownTypes: readonly string[];
  /** Named types that are in no serverless pool. */
  readonly poollessTypes: readonly string[];
}

/**
 * Exactly these types, the first the best (API decisions 3.9): the pools that hold them, in the order of the types; every
 * other type of those pools excluded, and the order kept for placement.
 */
export function requestTypes(typeIds: readonly string[], catalog: HardwareCatalog): RequestedTypes {
  const named = [...new Set(typeIds)];
  const pools = [...new Set(named.flatMap((typeId) => catalog.gpuType(typeId)?.pool ?? []))];
  const others = pools
    .flatMap((pool) => catalog.gpuTypesOfPool(pool).map(({ id }) => id))
    .filter((id) => !named.includes(id));
  return {
    selection: { pools, excludedTypes: others, preferredTypes: named },
    unknownTypes: named.filter((typeId) => catalog.gpuType(typeId) === undefined),
    poollessTypes: named.filter((typeId) => catalog.gpuType(typeId)?.pool === null),
  };
}
