import type { Fit } from './filters.js';

/** How good a fit is. Each number is better when smaller, and the first that differs decides. */
export interface PlacementScore {
  /** Position of the GPU pool (or type, or CPU flavor) in the request. */
  readonly preference: number;
  /** Position of the data center in the request; 0 when it names none. */
  readonly dataCenter: number;
  /** 0 where the image is present, else 1. */
  readonly imagePull: number;
  /** Free GPUs that stay on the host: full hosts first, and CPU workers where no GPU is blocked. */
  readonly spareGpus: number;
  /** Free vCPU that stay on the host. */
  readonly spareVcpus: number;
}

export function scoreFit({ request, option, host, inventory, free, resources }: Fit): PlacementScore {
  const freeGpus = [...free.gpus.values()].reduce((sum, count) => sum + count, 0);
  return {
    preference: option.rank,
    dataCenter: Math.max(0, request.dataCenterIds.indexOf(host.dataCenterId)),
    imagePull: inventory.images.includes(request.image) ? 0 : 1,
    spareGpus: freeGpus - resources.gpuCount,
    spareVcpus: free.vcpus - resources.vcpus,
  };
}

/** Below zero when `a` is better. */
export const compareScores = (a: PlacementScore, b: PlacementScore): number =>
  a.preference - b.preference ||
  a.dataCenter - b.dataCenter ||
  a.imagePull - b.imagePull ||
  a.spareGpus - b.spareGpus ||
  a.spareVcpus - b.spareVcpus;
