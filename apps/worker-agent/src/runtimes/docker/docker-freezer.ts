import type { WorkerId } from '@berth/domain';
import type { Container } from 'dockerode';
import { throwIfCancelled } from '../runtime-error.js';
import type { CallOptions, ContainerFreezer, OwnedContainer } from '../container-runtime.port.js';
import { fromFreezeError, hasStatus } from './engine-errors.js';

export interface FreezerParts {
  readonly container: (workerId: WorkerId) => Container;
  /** Null where there is none of this host's. */
  readonly look: (container: Container) => Promise<OwnedContainer | null>;
}

/** Ended, removed, or in the wanted state already: what happened between the look and the call. */
const OVERTAKEN = [404, 409, 304] as const;

/** The engine's freezer: the control group of a container stands still, whatever runs in it. */
export class DockerFreezer implements ContainerFreezer {
  readonly #parts: FreezerParts;

  constructor(parts: FreezerParts) {
    this.#parts = parts;
  }

  /** An engine may answer a refusal with the status of a state that was overtaken, so the look afterwards decides. */
  async pause(workerId: WorkerId, { signal }: CallOptions = {}): Promise<void> {
    const { container: find, look } = this.#parts;
    const container = find(workerId);
    if ((await look(container))?.state.kind !== 'running') return;
    throwIfCancelled(signal);
    try {
      await container.pause();
    } catch (error) {
      const isOvertaken = hasStatus(error, ...OVERTAKEN) && (await look(container))?.state.kind !== 'running';
      if (!isOvertaken) throw fromFreezeError(error, `Worker ${workerId} cannot be paused`);
    }
  }

  /** Without a look before: a job may wait for it, and an engine refuses to resume what is not paused. */
  async resume(workerId: WorkerId, { signal }: CallOptions = {}): Promise<void> {
    const { container: find, look } = this.#parts;
    const container = find(workerId);
    throwIfCancelled(signal);
    try {
      await container.unpause();
    } catch (error) {
      if ((await look(container))?.state.kind !== 'paused') return;
      throw fromFreezeError(error, `Worker ${workerId} cannot be resumed`);
    }
  }
}
