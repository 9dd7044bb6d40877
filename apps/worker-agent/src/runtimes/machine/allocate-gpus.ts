import type { HostGpu, WorkerId } from '@berth/domain';
import type { DeviceRequest } from '../container-runtime.port.js';
import { hasGpuName } from './gpu-device.js';

interface WorkersRequest {
  readonly workerId: WorkerId;
  /** Null for a CPU worker. */
  readonly gpu: DeviceRequest | null;
}

type GpuAllocation<Gpu extends HostGpu> =
  | { readonly kind: 'allocated'; readonly gpus: readonly Gpu[] }
  /** `detail` says what is missing, for people. */
  | { readonly kind: 'refused'; readonly detail: string };

/**
 * Picks the devices for one worker: those with the lowest index that nobody holds. Whole devices only.
 *
 * @param held names of devices (`gpuName`) by the worker that holds them; a worker that holds some gets the same again
 */
export function allocateGpus<Gpu extends HostGpu>(
  gpus: readonly Gpu[],
  held: ReadonlyMap<WorkerId, readonly string[]>,
  { workerId, gpu }: WorkersRequest,
): GpuAllocation<Gpu> {
  if (gpu === null) return { kind: 'allocated', gpus: [] };
  const { count } = gpu;
  const fitting = gpus.filter(({ typeId }) => typeId === gpu.typeId).toSorted((a, b) => a.index - b.index);
  const present = fitting.filter((each) => isNamedIn(held.get(workerId) ?? [], each));
  if (present.length === count) return { kind: 'allocated', gpus: present };
  const taken = [...held].flatMap(([holder, names]) => (holder === workerId ? [] : names));
  const free = fitting.filter((each) => !isNamedIn(taken, each));
  if (free.length < count) {
    return { kind: 'refused', detail: refusal(gpu, { free: free.length, all: fitting.length }) };
  }
  return { kind: 'allocated', gpus: free.slice(0, count) };
}

const isNamedIn = (names: readonly string[], gpu: HostGpu): boolean => names.some((name) => hasGpuName(gpu, name));

const refusal = ({ count, typeId }: DeviceRequest, has: { readonly free: number; readonly all: number }): string =>
  `needs ${String(count)} × ${typeId}, but ${String(has.free)} of this host's ${String(has.all)} are free`;
