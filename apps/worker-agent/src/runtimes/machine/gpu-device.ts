import type { HostGpu } from '@berth/domain';

export type GpuMaker = 'nvidia' | 'amd';

/** A card, or a slice of one, as workers are given it. */
export interface GpuDevice extends HostGpu {
  /** Absent where no device stands behind it. */
  readonly maker?: GpuMaker;
  /** What its maker's libraries call it, where that is not its name: an index among the cards of that maker. */
  readonly driverId?: string;
  /** Device file by which containers reach a card of AMD's; absent where it is not known. */
  readonly renderNode?: string;
}

export interface MachineGpus {
  readonly gpus: readonly GpuDevice[];
  /** The driver's highest CUDA version, `major.minor`; null without GPU. */
  readonly cudaVersion: string | null;
}

export const NO_GPUS: MachineGpus = { gpus: [], cudaVersion: null };

/** What came of asking a tool for its GPUs. */
export type GpuReading =
  | (MachineGpus & { readonly kind: 'read' })
  /** `gpus` are those that it named all the same. */
  | { readonly kind: 'failed'; readonly detail: string; readonly gpus: readonly GpuDevice[] };

/** How a container tells which GPUs it holds: an index says something else once a card is gone, a UUID does not. */
export const gpuName = ({ index, uuid }: HostGpu): string => uuid ?? String(index);

/** Containers of agents before 2026-11-25 tell indexes. */
export const hasGpuName = (gpu: HostGpu, name: string): boolean => name === gpuName(gpu) || name === String(gpu.index);
