import type { HostGpu, WorkerId } from '@berth/domain';
import type { DeviceRequest } from '../../container-runtime.port.js';
import { allocateGpus } from '../../machine/allocate-gpus.js';
import { gpuName } from '../../machine/gpu-device.js';
import { RuntimeError } from '../../runtime-error.js';

/**
 * How many of a node's GPUs its workers hold. Which cards they are the device plugin decides; the numbers that stand for
 * them here only keep one from being promised twice.
 */
export class NodeGpus {
  readonly #held = new Map<WorkerId, readonly string[]>();

  /** Until `release`. @throws RuntimeError `no-such-device`: too few of the type are free */
  take(workerId: WorkerId, gpu: DeviceRequest | null, present: readonly HostGpu[]): readonly string[] {
    const allocation = allocateGpus(present, this.#held, { workerId, gpu });
    if (allocation.kind === 'refused') throw new RuntimeError('no-such-device', allocation.detail);
    const names = allocation.gpus.map(gpuName);
    this.#held.set(workerId, names);
    return names;
  }

  adopt(workerId: WorkerId, names: readonly string[]): void {
    this.#held.set(workerId, names);
  }

  /** Those of workers that are gone are free. */
  keepOnly(isThere: (workerId: WorkerId) => boolean): void {
    for (const workerId of this.#held.keys()) if (!isThere(workerId)) this.#held.delete(workerId);
  }

  release(workerId: WorkerId): void {
    this.#held.delete(workerId);
  }
}
