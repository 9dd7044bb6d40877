import { gpuName, type GpuDevice, type GpuMaker } from './gpu-device.js';

/** The GPUs that one worker holds, as its container is given them. */
export interface HeldGpus {
  /** Written on the container, so that the agent's next life leaves them to it. */
  readonly names: readonly string[];
  /**
   * What the tools of each maker call those that it may see: none of them where it holds none. Null where the host has no
   * device of that maker, so that nothing has to be hidden.
   */
  readonly nvidia: readonly string[] | null;
  readonly amd: readonly string[] | null;
  /** Device files of the cards of AMD's. */
  readonly renderNodes: readonly string[];
}

/** @param makers those of which the host has, or has had, a device: a card that comes back is hidden from other workers */
export function heldOf(gpus: readonly GpuDevice[], makers: ReadonlySet<GpuMaker>): HeldGpus {
  const idsOf = (maker: GpuMaker): readonly string[] | null =>
    makers.has(maker) ? gpus.filter((gpu) => gpu.maker === maker).map((gpu) => gpu.driverId ?? gpuName(gpu)) : null;
  return {
    names: gpus.map(gpuName),
    nvidia: idsOf('nvidia'),
    amd: idsOf('amd'),
    renderNodes: gpus.flatMap(({ renderNode }) => renderNode ?? []),
  };
}

/** Of NVIDIA's container toolkit, which would else believe the image, or the tenant. */
export const nvidiaVariable = ({ nvidia }: HeldGpus): Readonly<Record<string, string>> =>
  // It takes an empty list for no word at all.
  nvidia === null ? {} : { NVIDIA_VISIBLE_DEVICES: nvidia.join(',') || 'void' };

/** For a worker that is a plain process: what the libraries of both makers believe. */
export const visibleDevices = (held: HeldGpus): Readonly<Record<string, string>> => ({
  ...nvidiaVariable(held),
  ...(held.nvidia === null ? {} : { CUDA_VISIBLE_DEVICES: held.nvidia.join(',') }),
  ...(held.amd === null ? {} : { ROCR_VISIBLE_DEVICES: held.amd.join(',') }),
});
