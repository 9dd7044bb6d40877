import type { Host } from '../host/index.js';
import type { WorkerResources } from '../worker/index.js';
import { freeResources, withoutTaken, type FreeResources, type HostLoad } from './free-resources.js';

/** One host while workers are placed one after the other: what is left is counted along, and not anew for each question. */
export class HostRoom implements HostLoad {
  readonly host: Host;
  readonly #taken: WorkerResources[];
  #free: FreeResources | null;

  /** @param taken by the workers that are there */
  constructor(host: Host, taken: readonly WorkerResources[]) {
    this.host = host;
    this.#taken = [...taken];
    this.#free = host.inventory === null ? null : freeResources(host.inventory, taken);
  }

  get taken(): readonly WorkerResources[] {
    return this.#taken;
  }

  /** Nothing, as long as the host has not joined. */
  get free(): FreeResources {
    return this.#free ?? NOTHING;
  }

  /** One more worker is placed here. */
  take(resources: WorkerResources): void {
    this.#taken.push(resources);
    if (this.#free !== null) this.#free = withoutTaken(this.#free, resources);
  }
}

const NOTHING: FreeResources = { vcpus: 0, memoryBytes: 0, diskBytes: 0, gpus: new Map() };
