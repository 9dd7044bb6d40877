import { V1_DEFAULTS, type CreateV1EndpointDto } from '@berth/contracts/http';
import {
  ENDPOINT_DEFAULTS,
  cpuMemoryGb,
  requestTypes,
  unknownGpuType,
  type CpuRequest,
  type FieldFailure,
  type GpuRequest,
  type HardwareCatalog,
} from '@berth/domain';

/** Exactly one of the two is set where nothing fails. */
export interface V1Compute {
  readonly gpu: GpuRequest | null;
  readonly cpu: readonly CpuRequest[] | null;
  /** In the words of the older form. */
  readonly failures: readonly FieldFailure[];
}

type Sizes = Pick<CreateV1EndpointDto, 'computeType' | 'cpuFlavorIds' | 'gpuTypeIds' | 'instanceIds' | 'vcpuCount'>;

export const isCpu = ({ computeType, cpuFlavorIds, gpuTypeIds, instanceIds }: Sizes): boolean =>
  computeType === undefined
    ? gpuTypeIds === undefined && (cpuFlavorIds ?? instanceIds) !== undefined
    : computeType === 'CPU';

export const toCompute = (dto: CreateV1EndpointDto, catalog: HardwareCatalog): V1Compute =>
  isCpu(dto) ? toCpu(dto, catalog) : toGpu(dto, catalog);

function toGpu(dto: CreateV1EndpointDto, catalog: HardwareCatalog): V1Compute {
  const { cpuFlavorIds, gpuTypeIds = [], instanceIds } = dto;
  const { poollessTypes, selection, unknownTypes } = requestTypes(gpuTypeIds, catalog);
  const at = (typeId: string): string => `$.gpuTypeIds[${gpuTypeIds.indexOf(typeId)}]`;
  return {
    gpu: {
      ...selection,
      count: dto.gpuCount ?? ENDPOINT_DEFAULTS.gpuCount,
      allowedCudaVersions: dto.allowedCudaVersions ?? [],
      minCudaVersion: dto.minCudaVersion ?? null,
    },
    cpu: null,
    failures: [
      ...stray("computeType 'GPU'", { cpuFlavorIds, instanceIds }),
      ...(gpuTypeIds.length === 0 ? [{ path: '$.gpuTypeIds', reason: "is needed for computeType 'GPU'" }] : []),
      ...unknownTypes.map((typeId) => ({ path: at(typeId), reason: unknownGpuType(typeId, catalog) })),
      ...poollessTypes.map((typeId) => ({ path: at(typeId), reason: `'${typeId}' is in no serverless pool` })),
    ],
  };
}

function toCpu(dto: CreateV1EndpointDto, catalog: HardwareCatalog): V1Compute {
  const { cpuFlavorIds = [], gpuTypeIds, instanceIds = [], vcpuCount = V1_DEFAULTS.vcpuCount } = dto;
  const instances = instanceIds.map((instanceId) => parseInstance(instanceId, catalog));
  const needed = { path: '$', reason: "send one of 'cpuFlavorIds' and 'instanceIds' for computeType 'CPU'" };
  return {
    gpu: null,
    cpu: [...instances.map(({ request }) => request), ...cpuFlavorIds.map((flavorId) => ({ flavorId, vcpuCount }))],
    failures: [
      ...stray("computeType 'CPU'", { gpuTypeIds }),
      ...((cpuFlavorIds.length === 0) === (instanceIds.length === 0) ? [needed] : []),
      ...instances.flatMap(({ reason }, index) =>
        reason === null ? [] : [{ path: `$.instanceIds[${index}]`, reason }],
      ),
    ],
  };
}

const stray = (owner: string, fields: Readonly<Record<string, unknown>>): readonly FieldFailure[] =>
  Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [{ path: `$.${name}`, reason: `does not go with ${owner}` }],
  );

/** @param instanceId `flavor-vcpu-memory`, checked */
function parseInstance(
  instanceId: string,
  catalog: HardwareCatalog,
): { readonly request: CpuRequest; readonly reason: string | null } {
  const [flavorId = '', vcpus, memory] = instanceId.split('-');
  const request = { flavorId, vcpuCount: Number(vcpus) };
  const flavor = catalog.cpuFlavor(flavorId);
  const memoryGb = flavor === undefined ? Number(memory) : cpuMemoryGb(flavor, request.vcpuCount);
  const isRight = memoryGb === Number(memory);
  return { request, reason: isRight ? null : `has ${memoryGb} GB with ${vcpus} vCPU, not ${memory}` };
}

/** @param request of an endpoint that exists */
export function instanceIdOf({ flavorId, vcpuCount }: CpuRequest, catalog: HardwareCatalog): string {
  const flavor = catalog.cpuFlavor(flavorId);
  return `${flavorId}-${vcpuCount}-${flavor === undefined ? 0 : cpuMemoryGb(flavor, vcpuCount)}`;
}
