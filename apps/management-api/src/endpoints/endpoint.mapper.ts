import {
  ENDPOINT_DEFAULTS,
  cpuFlavorById,
  cpuMemoryGb,
  requestUrls,
  resolveWorkerRange,
  type ContainerSpec,
  type CpuRequest,
  type Endpoint,
  type EndpointDraft,
  type EndpointSpec,
  type GpuRequest,
  type PublicAddresses,
  type Scaling,
} from '@berth/domain';
import type { CpuRequestDto, GpuRequestDto } from './compute.dto.js';
import type { CreateEndpointDto } from './create-endpoint.dto.js';
import type { CpuConfigBody, EndpointBody, GpuBody } from './endpoint.body.js';
import type { ScalingDto } from './scaling.dto.js';

/** What the rules between fields look at. */
export const toDraft = (dto: CreateEndpointDto): EndpointDraft => ({
  type: dto.type,
  gpu: dto.gpu === undefined ? null : toGpuRequest(dto.gpu),
  cpu: dto.cpu?.map(toCpuRequest) ?? null,
  scaling: toScaling(dto.scaling),
  workers: {
    min: dto.workers?.min ?? ENDPOINT_DEFAULTS.workersMin,
    max: dto.workers?.max ?? ENDPOINT_DEFAULTS.workersMax,
    idleTimeoutSeconds: dto.workers?.idleTimeout ?? null,
  },
});

/** @param draft of the same body, checked */
export const toEndpointSpec = (dto: CreateEndpointDto, draft: EndpointDraft): EndpointSpec => ({
  name: dto.name,
  type: dto.type,
  container: toContainer(dto),
  scaling: draft.scaling,
  workers: resolveWorkerRange(draft, {
    min: draft.workers.min,
    max: draft.workers.max,
    idleTimeoutSeconds: draft.workers.idleTimeoutSeconds,
  }),
  gpu: draft.gpu,
  cpu: draft.cpu,
  dataCenterIds: [...new Set(dto.dataCenterIds)],
  networkVolumeIds: dto.networkVolumes ?? [],
  flashboot: dto.flashboot ?? ENDPOINT_DEFAULTS.flashboot,
  executionTimeoutMs: dto.timeout ?? ENDPOINT_DEFAULTS.executionTimeoutMs,
});

const toContainer = (dto: CreateEndpointDto): ContainerSpec => ({
  image: dto.image ?? '',
  args: dto.args ?? '',
  diskGb: dto.disk ?? null,
  env: dto.env ?? {},
  ports: dto.ports ?? [],
  registryId: dto.registry ?? null,
});

const toScaling = (dto: ScalingDto): Scaling =>
  dto.type === 'QUEUE_DELAY'
    ? { type: dto.type, queueDelaySeconds: dto.queueDelay }
    : { type: dto.type, requestCount: dto.requestCount };

const toGpuRequest = (dto: GpuRequestDto): GpuRequest => ({
  pools: [...new Set(dto.pools)],
  excludedTypes: dto.excludedTypes ?? [],
  count: dto.count ?? ENDPOINT_DEFAULTS.gpuCount,
  allowedCudaVersions: [...new Set(dto.allowedCudaVersions)],
  minCudaVersion: dto.minCudaVersion ?? null,
});

const toCpuRequest = (dto: CpuRequestDto): CpuRequest => ({ flavorId: dto.id, vcpuCount: dto.vcpuCount });

/** The `Endpoint` of the specification. */
export function toEndpointBody(endpoint: Endpoint, addresses: PublicAddresses): EndpointBody {
  const { id, spec } = endpoint;
  const { container, cpu, gpu, workers } = spec;
  return {
    id,
    name: spec.name,
    type: spec.type,
    requestUrls: requestUrls({ id, type: spec.type, env: container.env }, addresses),
    image: container.image,
    args: container.args,
    ...(container.diskGb === null ? {} : { disk: container.diskGb }),
    ports: container.ports,
    env: container.env,
    registry: container.registryId,
    gpu: gpu === null ? null : toGpuBody(gpu),
    ...(cpu === null ? {} : { cpu: cpu.map(toCpuBody) }),
    workers: {
      min: workers.min,
      max: workers.max,
      ...(workers.idleTimeoutSeconds === null ? {} : { idleTimeout: workers.idleTimeoutSeconds }),
    },
    scaling: toScalingBody(spec.scaling),
    dataCenterIds: spec.dataCenterIds,
    networkVolumes: spec.networkVolumeIds,
    timeout: spec.executionTimeoutMs,
    flashboot: spec.flashboot,
    createdAt: new Date(endpoint.createdAtMs).toISOString(),
  };
}

const toGpuBody = ({ allowedCudaVersions, count, excludedTypes, minCudaVersion, pools }: GpuRequest): GpuBody => ({
  pools,
  excludedTypes,
  count,
  allowedCudaVersions,
  minCudaVersion,
});

function toCpuBody({ flavorId, vcpuCount }: CpuRequest): CpuConfigBody {
  const flavor = cpuFlavorById(flavorId);
  if (flavor === undefined) throw new Error(`endpoint with the unknown CPU flavor ${flavorId}`);
  return { id: flavorId, vcpuCount, memory: cpuMemoryGb(flavor, vcpuCount) };
}

const toScalingBody = (scaling: Scaling): ScalingDto =>
  scaling.type === 'QUEUE_DELAY'
    ? { type: scaling.type, queueDelay: scaling.queueDelaySeconds }
    : { type: scaling.type, requestCount: scaling.requestCount };
