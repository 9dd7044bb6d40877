import type { GpuRequest } from './compute-request.js';
import type { GpuType, HardwareCatalog } from '../hardware-catalog/index.js';

/** A GPU type that the request accepts. */
interface GpuCandidate {
  readonly typeId: string;
  readonly pool: string;
  /** Preference from 0, the best; types of equal preference share a rank. */
  readonly rank: number;
}

export interface GpuSelection {
  /** Best first; types of one rank in the order of the catalog. */
  readonly candidates: readonly GpuCandidate[];
  /** Named pools that the catalog does not have. */
  readonly unknownPools: readonly string[];
  /** Excluded types that are in none of the named pools. */
  readonly strayExclusions: readonly string[];
}

/** The types of the pools without the excluded ones, in order of preference, and what of the request means nothing. */
export function selectGpu(
  request: Pick<GpuRequest, 'pools' | 'excludedTypes' | 'preferredTypes'>,
  catalog: HardwareCatalog,
): GpuSelection {
  const { pools, excludedTypes, preferredTypes = [] } = request;
  const candidates = pools
    .flatMap((pool, poolRank) => catalog.gpuTypesOfPool(pool).map(({ id: typeId }) => ({ typeId, pool, poolRank })))
    .filter(({ typeId }) => !excludedTypes.includes(typeId))
    .map(({ typeId, pool, poolRank }) => ({ typeId, pool, rank: rankOf(typeId, poolRank, preferredTypes) }));
  return {
    candidates: candidates.toSorted((a, b) => a.rank - b.rank),
    unknownPools: pools.filter((pool) => catalog.gpuTypesOfPool(pool).length === 0),
    strayExclusions: excludedTypes.filter((typeId) => !isInPools(catalog.gpuType(typeId), pools)),
  };
}

/** Types preferred by name come first, in their order; all others follow by their pool. */
function rankOf(typeId: string, poolRank: number, preferredTypes: readonly string[]): number {
  const position = preferredTypes.indexOf(typeId);
  return position >= 0 ? position : preferredTypes.length + poolRank;
}

const isInPools = (type: GpuType | undefined, pools: readonly string[]): boolean =>
  type !== undefined && type.pool !== null && pools.includes(type.pool);
