import { V1_DEFAULTS, type CreateV1EndpointDto, type V1EndpointBody } from '@berth/contracts/http';
import { ENDPOINT_DEFAULTS, type Endpoint, type EndpointSpec, type HardwareCatalog, type Scaling } from '@berth/domain';
import type { EndpointRequest } from '../endpoints/index.js';
import { instanceIdOf, type V1Compute } from './v1-compute.js';

export const requestOfV1Endpoint = (dto: CreateV1EndpointDto, { cpu, gpu }: V1Compute): EndpointRequest => ({
  draft: {
    type: 'QUEUE',
    gpu,
    cpu,
    scaling: toScaling(dto),
    workers: {
      min: dto.workersMin ?? ENDPOINT_DEFAULTS.workersMin,
      max: dto.workersMax ?? ENDPOINT_DEFAULTS.workersMax,
      idleTimeoutSeconds: dto.idleTimeout ?? null,
    },
  },
  templateId: dto.templateId,
  overrides: { env: dto.env, gpu: gpu === null ? undefined : dto },
  settings: {
    name: dto.name,
    dataCenterIds: [...new Set(dto.dataCenterIds)],
    networkVolumeIds: [
      ...new Set([
        ...(dto.networkVolumeId === undefined ? [] : [dto.networkVolumeId]),
        ...(dto.networkVolumeIds ?? []),
      ]),
    ],
    flashboot: dto.flashboot === true ? 'FLASHBOOT' : 'OFF',
    executionTimeoutMs: dto.executionTimeoutMs ?? ENDPOINT_DEFAULTS.executionTimeoutMs,
  },
});

function toScaling(dto: CreateV1EndpointDto): Scaling {
  const { scalerType = V1_DEFAULTS.scalerType, scalerValue = V1_DEFAULTS.scalerValue } = dto;
  return scalerType === 'QUEUE_DELAY'
    ? { type: scalerType, queueDelaySeconds: scalerValue }
    : { type: scalerType, requestCount: scalerValue };
}

/** @param templateId as it was sent: nothing keeps it */
export const toV1EndpointBody = (
  { accountId, createdAtMs, id, release, spec }: Endpoint,
  templateId: string,
  catalog: HardwareCatalog,
): V1EndpointBody => ({
  id,
  name: spec.name,
  templateId,
  ...hardwareOf(spec, catalog),
  workersMin: spec.workers.min,
  workersMax: spec.workers.max,
  ...(spec.workers.idleTimeoutSeconds === null ? {} : { idleTimeout: spec.workers.idleTimeoutSeconds }),
  scalerType: spec.scaling.type,
  scalerValue: spec.scaling.type === 'QUEUE_DELAY' ? spec.scaling.queueDelaySeconds : spec.scaling.requestCount,
  executionTimeoutMs: spec.executionTimeoutMs,
  flashboot: spec.flashboot !== 'OFF',
  dataCenterIds: spec.dataCenterIds,
  networkVolumeId: spec.networkVolumeIds[0] ?? null,
  networkVolumeIds: spec.networkVolumeIds,
  env: spec.container.env,
  userId: accountId,
  version: release,
  createdAt: new Date(createdAtMs).toISOString(),
});

type Hardware = Pick<
  V1EndpointBody,
  'computeType' | 'gpuTypeIds' | 'gpuCount' | 'allowedCudaVersions' | 'minCudaVersion' | 'instanceIds'
>;

function hardwareOf({ cpu, gpu }: EndpointSpec, catalog: HardwareCatalog): Hardware {
  if (gpu === null) {
    const instanceIds = (cpu ?? []).map((request) => instanceIdOf(request, catalog));
    return { ...NO_GPU, computeType: 'CPU', instanceIds };
  }
  const { allowedCudaVersions, count: gpuCount, minCudaVersion, preferredTypes: gpuTypeIds = [] } = gpu;
  return { computeType: 'GPU', gpuTypeIds, gpuCount, allowedCudaVersions, minCudaVersion, instanceIds: [] };
}

const NO_GPU = { gpuTypeIds: [], gpuCount: 0, allowedCudaVersions: [], minCudaVersion: null };
