import type {
  CpuRequestDto,
  GpuRequestDto,
  UpdateGpuRequestDto,
  CreateEndpointDto,
  EndpointBody,
  ScalingDto,
  UpdateEndpointDto,
} from '@berth/contracts/http';
import {
  ENDPOINT_DEFAULTS,
  endpointFields,
  requestUrls,
  type CpuRequest,
  type Endpoint,
  type EndpointDraft,
  type EndpointPatch,
  type EndpointSettings,
  type GpuRequest,
  type HardwareCatalog,
  type PublicAddresses,
  type Scaling,
  type TemplateOverrides,
} from '@berth/domain';
import type { EndpointChange, EndpointRequest } from './endpoint-request.js';

export const requestOfEndpoint = (dto: CreateEndpointDto): EndpointRequest => ({
  draft: toDraft(dto),
  templateId: dto.templateId,
  overrides: { ...toOverrides(dto), gpu: dto.gpu },
  settings: {
    name: dto.name,
    dataCenterIds: unique(dto.dataCenterIds ?? []),
    networkVolumeIds: unique(dto.networkVolumes ?? []),
    flashboot: dto.flashboot ?? ENDPOINT_DEFAULTS.flashboot,
    executionTimeoutMs: dto.timeout ?? ENDPOINT_DEFAULTS.executionTimeoutMs,
    ...accessOf(dto),
  },
});

const accessOf = ({ loadBalancer }: CreateEndpointDto): Pick<EndpointSettings, 'loadBalancer'> =>
  loadBalancer === undefined ? {} : { loadBalancer: { ...ENDPOINT_DEFAULTS.loadBalancer, ...loadBalancer } };

export const toEndpointChange = (dto: UpdateEndpointDto): EndpointChange => ({
  patch: {
    name: dto.name,
    gpu: dto.gpu === undefined ? undefined : toGpuPatch(dto.gpu),
    cpu: dto.cpu?.map(toCpuRequest),
    scaling: dto.scaling === undefined ? undefined : toScaling(dto.scaling),
    workers: { min: dto.workers?.min, max: dto.workers?.max, idleTimeoutSeconds: dto.workers?.idleTimeout },
    dataCenterIds: dto.dataCenterIds === undefined ? undefined : unique(dto.dataCenterIds),
    networkVolumeIds: dto.networkVolumes === undefined ? undefined : unique(dto.networkVolumes),
    flashboot: dto.flashboot,
    executionTimeoutMs: dto.timeout,
    loadBalancer: dto.loadBalancer,
  },
  templateId: dto.templateId,
  overrides: toOverrides(dto),
});

const toDraft = (dto: CreateEndpointDto): EndpointDraft => ({
  type: dto.type,
  gpu: dto.gpu === undefined ? null : toGpuRequest(dto.gpu),
  cpu: dto.cpu?.map(toCpuRequest) ?? null,
  scaling: toScaling(dto.scaling),
  workers: {
    min: dto.workers?.min ?? ENDPOINT_DEFAULTS.workersMin,
    max: dto.workers?.max ?? ENDPOINT_DEFAULTS.workersMax,
    idleTimeoutSeconds: dto.workers?.idleTimeout ?? null,
  },
  ...accessOf(dto),
});

const toOverrides = (dto: CreateEndpointDto | UpdateEndpointDto): TemplateOverrides => ({
  image: dto.image,
  args: dto.args,
  diskGb: dto.disk,
  env: dto.env,
  ports: dto.ports,
  registryId: dto.registry,
});

const toScaling = (dto: ScalingDto): Scaling =>
  dto.type === 'QUEUE_DELAY'
    ? { type: dto.type, queueDelaySeconds: dto.queueDelay }
    : { type: dto.type, requestCount: dto.requestCount };

const toGpuRequest = (dto: GpuRequestDto): GpuRequest => ({
  pools: unique(dto.pools),
  excludedTypes: dto.excludedTypes ?? [],
  count: dto.count ?? ENDPOINT_DEFAULTS.gpuCount,
  allowedCudaVersions: unique(dto.allowedCudaVersions ?? []),
  minCudaVersion: dto.minCudaVersion ?? null,
});

/** Empty text is how a request says that there is to be no floor. */
const toGpuPatch = (dto: UpdateGpuRequestDto): NonNullable<EndpointPatch['gpu']> => ({
  pools: dto.pools === undefined ? undefined : unique(dto.pools),
  excludedTypes: dto.excludedTypes,
  count: dto.count,
  allowedCudaVersions: dto.allowedCudaVersions === undefined ? undefined : unique(dto.allowedCudaVersions),
  minCudaVersion: dto.minCudaVersion === '' ? null : dto.minCudaVersion,
});

const toCpuRequest = (dto: CpuRequestDto): CpuRequest => ({ flavorId: dto.id, vcpuCount: dto.vcpuCount });

const unique = (items: readonly string[]): readonly string[] => [...new Set(items)];

/** An endpoint as it is answered (API decisions 3.2). */
export function toEndpointBody(
  { createdAtMs, id, spec }: Endpoint,
  addresses: PublicAddresses,
  catalog: HardwareCatalog,
): EndpointBody {
  const { name, type, ...fields } = endpointFields(spec, catalog);
  return {
    id,
    name,
    type,
    requestUrls: requestUrls({ id, type, env: spec.container.env }, addresses),
    ...fields,
    createdAt: new Date(createdAtMs).toISOString(),
  };
}
