import { isHostPlaceable, type Inventory } from '../host/index.js';
import {
  freeResources,
  workerResources,
  type FreeResources,
  type HostLoad,
  type WorkerOption,
} from '../placement/index.js';
import type { WorkerResources } from '../worker/index.js';

/** A host that has joined. */
export interface JoinedHost {
  readonly dataCenterId: string;
  readonly inventory: Inventory;
}

/** A host that may get workers. */
export interface OpenHost extends JoinedHost {
  readonly whole: FreeResources;
  readonly free: FreeResources;
}

/** The hosts of an installation at one instant. */
export interface Installation {
  readonly joined: readonly JoinedHost[];
  /** Those that are heard of and neither cordoned nor draining. */
  readonly open: readonly OpenHost[];
}

export function installationOf(loads: readonly HostLoad[], nowMs: number): Installation {
  const joined = loads.flatMap(({ host, taken }) => {
    const { dataCenterId, inventory } = host;
    return inventory === null ? [] : [{ dataCenterId, inventory, taken, isOpen: isHostPlaceable(host, nowMs) }];
  });
  return {
    joined,
    open: joined
      .filter(({ isOpen }) => isOpen)
      .map(({ dataCenterId, inventory, taken }) => ({
        dataCenterId,
        inventory,
        whole: freeResources(inventory, []),
        free: freeResources(inventory, taken),
      })),
  };
}

/** How many workers of this kind the host has room for: all of it, or what is left of it. */
export function unitsOn(host: OpenHost, option: WorkerOption, part: 'whole' | 'free'): number {
  const needs = workerResources(option, null, host.inventory);
  const has = host[part];
  return Math.max(
    0,
    Math.min(
      times(has.vcpus, needs.vcpus),
      times(has.memoryBytes, needs.memoryBytes),
      times(has.diskBytes, needs.diskBytes),
      gpuTimes(has, needs),
    ),
  );
}

const gpuTimes = ({ gpus }: FreeResources, { gpuCount, gpuTypeId }: WorkerResources): number =>
  gpuTypeId === null ? Infinity : times(gpus.get(gpuTypeId) ?? 0, gpuCount);

const times = (has: number, needs: number): number => (needs <= 0 ? Infinity : Math.floor(has / needs));
