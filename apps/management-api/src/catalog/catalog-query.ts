import type { CpuQueryDto, DataCenterIncludeDto, DataCenterQueryDto, GpuQueryDto } from '@berth/contracts/http';
import {
  PlatformError,
  type CpuStockQuery,
  type DataCenterFilter,
  type DataCenterStockQuery,
  type GpuStockQuery,
} from '@berth/domain';

/** Null where no availability is asked for. @throws PlatformError `invalid-query` */
export function toGpuStockQuery(dto: GpuQueryDto): GpuStockQuery | null {
  const { include, product = [], ...scope } = dto;
  refuse([...availabilityProblems(dto, scope), ...cudaProblems(dto)]);
  if (include === undefined) return null;
  const { cloud = 'SECURE', count = 1, countryCodes = [], cudaVersions = [], minCudaVersion = null } = scope;
  return {
    products: product,
    cloud,
    count,
    countryCodes,
    cudaVersions,
    // A major version alone means its first release.
    minCudaVersion: minCudaVersion === null || minCudaVersion.includes('.') ? minCudaVersion : `${minCudaVersion}.0`,
  };
}

/** Null where no availability is asked for. @throws PlatformError `invalid-query` */
export function toCpuStockQuery(dto: CpuQueryDto): CpuStockQuery | null {
  const { include, product = [], ...scope } = dto;
  refuse(availabilityProblems(dto, scope));
  return include === undefined ? null : { products: product, vcpuCount: scope.vcpuCount ?? null };
}

export const toDataCenterFilter = (dto: DataCenterQueryDto): DataCenterFilter => ({
  regions: dto.regions ?? [],
  networkVolumeTypes: dto.networkVolumeTypes ?? [],
  compliance: dto.compliance ?? [],
  hasGlobalNetwork: dto.globalNetwork ?? null,
});

export const toDataCenterStockQuery = ({ include = [] }: DataCenterIncludeDto): DataCenterStockQuery => ({
  gpus: include.includes('GPU_AVAILABILITY'),
  cpus: include.includes('CPU_AVAILABILITY'),
});

/** The same hardware can be scarce for one product and not for another, so neither is taken for granted. */
function availabilityProblems(
  { include, product }: { readonly include?: readonly string[]; readonly product?: readonly string[] },
  scope: object,
): readonly string[] {
  if (include !== undefined && product === undefined) return ["$.product: is required with 'include=AVAILABILITY'"];
  if (include !== undefined) return [];
  const stray = Object.keys({ ...(product === undefined ? {} : { product }), ...scope });
  return stray.map((name) => `$.${name}: is only for 'include=AVAILABILITY'`);
}

const cudaProblems = ({ cudaVersions, minCudaVersion }: GpuQueryDto): readonly string[] =>
  cudaVersions !== undefined && minCudaVersion !== undefined
    ? ["$.minCudaVersion: send either 'cudaVersions' or 'minCudaVersion', not both"]
    : [];

function refuse(errors: readonly string[]): void {
  const [first] = errors;
  if (first === undefined) return;
  throw new PlatformError('invalid-query', `The query parameters contradict each other: ${first}.`, { errors });
}
