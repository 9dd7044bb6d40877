import type { Host, Inventory } from '../host/index.js';
import type { WorkerResources } from '../worker/index.js';

/** A host and what the workers placed on it take, draining ones included. */
export interface HostLoad {
  readonly host: Host;
  readonly taken: readonly WorkerResources[];
  /** What is left of it, where that has been counted already; absent: it is counted from what is taken. */
  readonly free?: FreeResources;
}

export interface FreeResources {
  readonly vcpus: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Number of free GPUs by GPU type id, for the types that the host has. */
  readonly gpus: ReadonlyMap<string, number>;
}

/**
 * What is left of a host. An overcommitted host is one for trying Berth: it reports more vCPU than it has, and flavors
 * derive memory from vCPU, so there memory and disk are not counted either.
 */
export function freeResources(inventory: Inventory, taken: readonly WorkerResources[]): FreeResources {
  const gpus = new Map<string, number>();
  for (const { typeId } of inventory.gpus) gpus.set(typeId, (gpus.get(typeId) ?? 0) + 1);
  const { isOvercommitted } = inventory;
  const whole: FreeResources = {
    vcpus: inventory.vcpus,
    memoryBytes: isOvercommitted ? Infinity : inventory.memoryBytes,
    diskBytes: isOvercommitted ? Infinity : inventory.diskBytes,
    gpus,
  };
  return taken.reduce(withoutTaken, whole);
}

/** What is left once one more worker is there. */
export function withoutTaken(free: FreeResources, resources: WorkerResources): FreeResources {
  const { gpuCount, gpuTypeId } = resources;
  return {
    vcpus: free.vcpus - resources.vcpus,
    memoryBytes: free.memoryBytes - resources.memoryBytes,
    diskBytes: free.diskBytes - resources.diskBytes,
    gpus:
      gpuTypeId === null ? free.gpus : new Map(free.gpus).set(gpuTypeId, (free.gpus.get(gpuTypeId) ?? 0) - gpuCount),
  };
}
