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

  pause(workerId: WorkerId, options: CallOptions = {}): Promise<void> {
    return this.#change(workerId, 'running', options);
  }

  resume(workerId: WorkerId, options: CallOptions = {}): Promise<void> {
    return this.#change(workerId, 'paused', options);
  }

  /** An engine may answer a refusal with the status of a state that was overtaken, so the look afterwards decides. */
  async #change(workerId: WorkerId, from: 'running' | 'paused', { signal }: CallOptions): Promise<void> {
    const { container: find, look } = this.#parts;
    const container = find(workerId);
    if ((await look(container))?.state.kind !== from) return;
    throwIfCancelled(signal);
    try {
      await (from === 'running' ? container.pause() : container.unpause());
    } catch (error) {
      const isOvertaken = hasStatus(error, ...OVERTAKEN) && (await look(container))?.state.kind !== from;
      const what = from === 'running' ? 'paused' : 'resumed';
      if (!isOvertaken) throw fromFreezeError(error, `Worker ${workerId} cannot be ${what}`);
    }
  }
}
