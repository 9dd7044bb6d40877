import type { Host, Inventory } from '../host/index.js';
import type { WorkerResources } from '../worker/index.js';

/** A host and what the workers placed on it take, draining ones included. */
export interface HostLoad {
  readonly host: Host;
  readonly taken: readonly WorkerResources[];
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
  for (const { gpuTypeId, gpuCount } of taken) {
    if (gpuTypeId !== null) gpus.set(gpuTypeId, (gpus.get(gpuTypeId) ?? 0) - gpuCount);
  }
  const left = (has: number, field: 'vcpus' | 'memoryBytes' | 'diskBytes'): number =>
    taken.reduce((rest, resources) => rest - resources[field], has);
  const { isOvercommitted } = inventory;
  return {
    vcpus: left(inventory.vcpus, 'vcpus'),
    memoryBytes: isOvercommitted ? Infinity : left(inventory.memoryBytes, 'memoryBytes'),
    diskBytes: isOvercommitted ? Infinity : left(inventory.diskBytes, 'diskBytes'),
    gpus,
  };
}
