import { type HardwareCatalog, nearestVcpuCount } from '../hardware-catalog/index.js';
import { selectGpu, type CpuRequest, type GpuRequest } from '../hardware-request/index.js';
import { closestWord } from '../words/index.js';
import { failure, type FieldFailure } from './field-failure.js';

/**
 * Checks the entries of the catalogs that a request names (API decisions 1.3, group 4). Empty when everything exists
 * and fits.
 */
export const checkCatalogs = (
  { cpu, gpu }: { readonly gpu: GpuRequest | null; readonly cpu: readonly CpuRequest[] | null },
  catalog: HardwareCatalog,
): readonly FieldFailure[] => [
  ...(gpu === null ? [] : checkGpuSelection(gpu, catalog)),
  ...(cpu ?? []).flatMap((config, index) => checkFlavor(config, index, catalog)),
];

function checkGpuSelection(gpu: GpuRequest, catalog: HardwareCatalog): readonly FieldFailure[] {
  const { candidates, strayExclusions, unknownPools } = selectGpu(gpu, catalog);
  const failures = [
    ...unknownPools.map((pool) =>
      failure(itemPath('$.gpu.pools', gpu.pools, pool), unknownOf('GPU pool', pool, catalog.gpuPools)),
    ),
    ...strayExclusions.map((typeId) =>
      failure(itemPath('$.gpu.excludedTypes', gpu.excludedTypes, typeId), whyStray(typeId, gpu.pools, catalog)),
    ),
  ];
  if (failures.length > 0 || candidates.length > 0) return failures;
  const types = selectGpu({ ...gpu, excludedTypes: [] }, catalog).candidates.map(({ typeId }) => `'${typeId}'`);
  const reason = `excludes every GPU type of the chosen pools; keep at least one of ${types.join(', ')}`;
  return [failure('$.gpu.excludedTypes', reason)];
}

function whyStray(typeId: string, pools: readonly string[], catalog: HardwareCatalog): string {
  const type = catalog.gpuType(typeId);
  if (type === undefined) return unknownGpuType(typeId, catalog);
  if (type.pool === null) return `'${typeId}' is in no serverless pool, so there is nothing to exclude; leave it out`;
  return `'${typeId}' is in pool '${type.pool}', which is not among the chosen pools (${pools.join(', ')})`;
}

function checkFlavor(
  { flavorId, vcpuCount }: CpuRequest,
  index: number,
  catalog: HardwareCatalog,
): readonly FieldFailure[] {
  const flavor = catalog.cpuFlavor(flavorId);
  if (flavor === undefined) {
    const known = catalog.cpuFlavors.map(({ id }) => id);
    return [failure(`$.cpu[${index}].id`, unknownOf('CPU flavor', flavorId, known))];
  }
  const nearest = nearestVcpuCount(flavor, vcpuCount);
  if (vcpuCount === nearest) return [];
  const range = `${flavor.vcpuMin} to ${flavor.vcpuMax}`;
  const reason = `'${flavorId}' has ${range} vCPU, not ${vcpuCount}; nearest is ${nearest}`;
  return [failure(`$.cpu[${index}].vcpuCount`, reason)];
}

const unknown = (kind: string, word: string, known: readonly string[]): string => {
  const closest = closestWord(word, known);
  return `unknown ${kind} '${word}'${closest === null ? '' : ` (did you mean '${closest}'?)`}`;
};

/** For short lists only: a catalog shows a long one better. */
const unknownOf = (kind: string, word: string, known: readonly string[]): string =>
  `${unknown(kind, word, known)}; known are ${known.join(', ')}`;

export const unknownGpuType = (typeId: string, catalog: HardwareCatalog): string =>
  `${unknown(
    'GPU type',
    typeId,
    catalog.gpuTypes.map(({ id }) => id),
  )}; the GPU catalog lists the known ones`;

const itemPath = (list: string, items: readonly string[], item: string): string => `${list}[${items.indexOf(item)}]`;
