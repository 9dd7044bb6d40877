import type { HostGpu, WorkerId } from '@berth/domain';
import type { DeviceRequest } from '../container-runtime.port.js';

interface WorkersRequest {
  readonly workerId: WorkerId;
  /** Null for a CPU worker. */
  readonly gpu: DeviceRequest | null;
}

type GpuAllocation =
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
  { workerId, gpu }: WorkersRequest,
): GpuAllocation {
  if (gpu === null) return { kind: 'allocated', indexes: [] };
  const { count } = gpu;
  const fitting = gpus.filter(({ typeId }) => typeId === gpu.typeId).map(({ index }) => index);
  const present = held.get(workerId);
  if (present?.length === count && present.every((index) => fitting.includes(index))) {
    return { kind: 'allocated', indexes: present };
  }
  const taken = new Set([...held].flatMap(([holder, indexes]) => (holder === workerId ? [] : indexes)));
  const free = fitting.filter((index) => !taken.has(index)).sort((a, b) => a - b);
  if (free.length < count) {
    return { kind: 'refused', detail: refusal(gpu, { free: free.length, all: fitting.length }) };
  }
  return { kind: 'allocated', indexes: free.slice(0, count) };
}

const refusal = ({ count, typeId }: DeviceRequest, has: { readonly free: number; readonly all: number }): string =>
  `needs ${String(count)} × ${typeId}, but ${String(has.free)} of this host's ${String(has.all)} are free`;
