import type { Fit } from './filters.js';

/** How good a fit is. Each number is better when smaller, and the first that differs decides. */
export interface PlacementScore {
  /** Workers of the endpoint that have a GPU of the same preference; 0 where they need not keep apart. */
  readonly alikeSiblings: number;
  /** Position of the GPU pool (or type, or CPU flavor) in the request. */
  readonly preference: number;
  /** Position of the data center in the request; 0 when it names none. */
  readonly dataCenter: number;
  /** Position of the data center among those where the endpoint's network volumes lie; 0 without volumes. */
  readonly volume: number;
  /** Workers of the endpoint on the same host; 0 where they need not keep apart. */
  readonly siblingsOnHost: number;
  /** 0 where the image is present, else 1. */
  readonly imagePull: number;
  /** Free GPUs that stay on the host: full hosts first, and CPU workers where no GPU is blocked. */
  readonly spareGpus: number;
  /** Free vCPU that stay on the host. */
  readonly spareVcpus: number;
}

const IN_ORDER = [
  'alikeSiblings',
  'preference',
  'dataCenter',
  'volume',
  'siblingsOnHost',
  'imagePull',
  'spareGpus',
  'spareVcpus',
] as const satisfies readonly (keyof PlacementScore)[];

/** @param alikeSiblings workers of the endpoint that have a GPU of the same preference */
export function scoreFit(
  { request, option, host, inventory, free, resources }: Fit,
  alikeSiblings: number,
): PlacementScore {
  let freeGpus = 0;
  for (const count of free.gpus.values()) freeGpus += count;
  return {
    alikeSiblings,
    preference: option.rank,
    dataCenter: Math.max(0, request.dataCenterIds.indexOf(host.dataCenterId)),
    volume: Math.max(0, request.volumeDataCenterIds.indexOf(host.dataCenterId)),
    siblingsOnHost: request.apartFrom?.byHost.get(host.id) ?? 0,
    imagePull: inventory.images.includes(request.image) ? 0 : 1,
    spareGpus: freeGpus - resources.gpuCount,
    spareVcpus: free.vcpus - resources.vcpus,
  };
}

/** Below zero when `a` is better. */
export function compareScores(a: PlacementScore, b: PlacementScore): number {
  for (const part of IN_ORDER) {
    if (a[part] !== b[part]) return a[part] - b[part];
  }
  return 0;
}
