import { cpuMemoryGb, LOST_FLAVOR, type HardwareCatalog } from '../hardware-catalog/index.js';
import type { CpuRequest, GpuRequest } from '../hardware-request/index.js';
import type { EndpointSpec, Scaling, WorkerRange } from './endpoint.js';

/** The settings of an endpoint, in the words of the interface: as they are shown, and as their changes are told. */
export const endpointFields = (spec: EndpointSpec, catalog: HardwareCatalog) => ({
  name: spec.name,
  type: spec.type,
  ...containerFields(spec),
  gpu: spec.gpu === null ? null : gpuFields(spec.gpu),
  ...(spec.cpu === null ? {} : { cpu: spec.cpu.map((config) => cpuFields(config, catalog)) }),
  workers: workersFields(spec.workers),
  scaling: scalingFields(spec.scaling),
  dataCenterIds: spec.dataCenterIds,
  networkVolumes: spec.networkVolumeIds,
  timeout: spec.executionTimeoutMs,
  flashboot: spec.flashboot,
  ...(spec.loadBalancer === undefined ? {} : { loadBalancer: spec.loadBalancer }),
});

/**
 * Fields whose change makes a release: a worker is made of them, or placed by them (API decisions 3.5). All others apply
 * at once.
 */
const RELEASE_FIELDS: ReadonlySet<string | undefined> = new Set([
  'image',
  'args',
  'disk',
  'ports',
  'env',
  'registry',
  'gpu',
  'cpu',
  'dataCenterIds',
  'networkVolumes',
] satisfies (keyof ReturnType<typeof endpointFields>)[]);

/** @param path dotted, as `gpu.count` */
export const makesRelease = (path: string): boolean => RELEASE_FIELDS.has(path.split('.')[0]);

const containerFields = ({ container }: EndpointSpec) => ({
  image: container.image,
  args: container.args,
  ...(container.diskGb === null ? {} : { disk: container.diskGb }),
  ports: container.ports,
  env: container.env,
  registry: container.registryId,
});

/** Without the order of types that the older create form may have left: no field of the interface says it. */
const gpuFields = ({ allowedCudaVersions, count, excludedTypes, minCudaVersion, pools }: GpuRequest) => ({
  pools,
  excludedTypes,
  count,
  allowedCudaVersions,
  minCudaVersion,
});

const cpuFields = ({ flavorId, vcpuCount }: CpuRequest, catalog: HardwareCatalog) => ({
  id: flavorId,
  vcpuCount,
  memory: cpuMemoryGb(catalog.cpuFlavor(flavorId) ?? LOST_FLAVOR, vcpuCount),
});

const workersFields = ({ idleTimeoutSeconds, max, min }: WorkerRange) => ({
  min,
  max,
  ...(idleTimeoutSeconds === null ? {} : { idleTimeout: idleTimeoutSeconds }),
});

const scalingFields = (scaling: Scaling) =>
  scaling.type === 'QUEUE_DELAY'
    ? { type: scaling.type, queueDelay: scaling.queueDelaySeconds }
    : { type: scaling.type, requestCount: scaling.requestCount };
