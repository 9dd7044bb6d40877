import type { HostGpu, WorkerId } from '@berth/domain';

export interface GpuNeed {
  /** Catalog id; null for a CPU worker. */
  readonly gpuTypeId: string | null;
  readonly gpuCount: number;
}

export type GpuAllocation =
  | { readonly kind: 'allocated'; readonly indexes: readonly number[] }
  /** `detail` says what is missing, for people. */
  | { readonly kind: 'refused'; readonly detail: string };

/**
 * Picks the devices for one worker: those with the lowest index that nobody holds. Whole devices only.
 *
 * @param held device indexes by the worker that holds them; a worker that holds some gets the same again
 */
export function allocateGpus(
  gpus: readonly HostGpu[],
  held: ReadonlyMap<WorkerId, readonly number[]>,
  { workerId, gpuTypeId, gpuCount }: GpuNeed & { readonly workerId: WorkerId },
): GpuAllocation {
  if (gpuTypeId === null || gpuCount === 0) return { kind: 'allocated', indexes: [] };
  const fitting = gpus.filter(({ typeId }) => typeId === gpuTypeId).map(({ index }) => index);
  const present = held.get(workerId);
  if (present?.length === gpuCount && present.every((index) => fitting.includes(index))) {
    return { kind: 'allocated', indexes: present };
  }
  const taken = new Set([...held].flatMap(([holder, indexes]) => (holder === workerId ? [] : indexes)));
  const free = fitting.filter((index) => !taken.has(index)).sort((a, b) => a - b);
  if (free.length < gpuCount) {
    return { kind: 'refused', detail: refusal(gpuTypeId, gpuCount, { free: free.length, all: fitting.length }) };
  }
  return { kind: 'allocated', indexes: free.slice(0, gpuCount) };
}

const refusal = (typeId: string, wanted: number, has: { readonly free: number; readonly all: number }): string =>
  `needs ${String(wanted)} × ${typeId}, but ${String(has.free)} of this host's ${String(has.all)} are free`;
