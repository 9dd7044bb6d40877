import type { HardwareCatalog } from '../hardware-catalog/index.js';
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
interface JoinedHost {
  readonly dataCenterId: string;
  readonly inventory: Inventory;
}

/** A host that may get workers. */
export interface OpenHost extends JoinedHost {
  readonly whole: FreeResources;
  readonly free: FreeResources;
}

/** The hosts of an installation at one instant, with their cards by the ids of the catalog's types. */
export interface Installation {
  readonly catalog: HardwareCatalog;
  readonly joined: readonly JoinedHost[];
  /** Those that are heard of and neither cordoned nor draining. */
  readonly open: readonly OpenHost[];
}

export function installationOf(loads: readonly HostLoad[], catalog: HardwareCatalog, nowMs: number): Installation {
  const joined = loads.flatMap(({ host, taken }) => {
    const { dataCenterId } = host;
    if (host.inventory === null) return [];
    const inventory = inWordsOf(catalog, host.inventory);
    const known = taken.map((each) => typed(each, catalog));
    return [{ dataCenterId, inventory, taken: known, isOpen: isHostPlaceable(host, nowMs) }];
  });
  return {
    catalog,
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

/** The inventory with the ids of the catalog's types in place of what drivers call their cards. */
export const inWordsOf = (catalog: HardwareCatalog, inventory: Inventory): Inventory => ({
  ...inventory,
  gpus: inventory.gpus.map((gpu) => ({ ...gpu, typeId: catalog.gpuTypeIdOfCard(gpu.typeId) })),
});

const typed = (resources: WorkerResources, catalog: HardwareCatalog): WorkerResources =>
  resources.gpuTypeId === null ? resources : { ...resources, gpuTypeId: catalog.gpuTypeIdOfCard(resources.gpuTypeId) };

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
