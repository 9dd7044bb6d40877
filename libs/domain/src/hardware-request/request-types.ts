import type { GpuRequest } from './compute-request.js';
import { gpuTypeById, gpuTypesOfPool } from '../hardware-catalog/index.js';

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
export function requestTypes(typeIds: readonly string[]): RequestedTypes {
  const named = [...new Set(typeIds)];
  const pools = [...new Set(named.flatMap((typeId) => gpuTypeById(typeId)?.pool ?? []))];
  const others = pools.flatMap((pool) => gpuTypesOfPool(pool).map(({ id }) => id)).filter((id) => !named.includes(id));
  return {
    selection: { pools, excludedTypes: others, preferredTypes: named },
    unknownTypes: named.filter((typeId) => gpuTypeById(typeId) === undefined),
    poollessTypes: named.filter((typeId) => gpuTypeById(typeId)?.pool === null),
  };
}
