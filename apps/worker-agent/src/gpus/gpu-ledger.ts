import type { HostGpu, WorkerId } from '@berth/domain';
import { allocateGpus, type GpuAllocation, type GpuNeed } from './allocate-gpus.js';

/** Which worker holds which devices of this host. What a worker holds is also written on its container. */
export class GpuLedger {
  readonly #held = new Map<WorkerId, readonly number[]>();
  #gpus: readonly HostGpu[] = [];

  /** What the host has at present. A worker keeps what it holds even when it is not among it any more. */
  setGpus(gpus: readonly HostGpu[]): void {
    this.#gpus = gpus;
  }

  /** Gives devices to a worker until `release`. */
  take(workerId: WorkerId, request: GpuNeed): GpuAllocation {
    const allocation = allocateGpus(this.#gpus, this.#held, { ...request, workerId });
    if (allocation.kind === 'allocated') this.#held.set(workerId, allocation.indexes);
    return allocation;
  }

  /** Notes what a container holds that an earlier life of the agent started. */
  adopt(workerId: WorkerId, indexes: readonly number[]): void {
    this.#held.set(workerId, indexes);
  }

  release(workerId: WorkerId): void {
    this.#held.delete(workerId);
  }
}
