import type { AssignedWorker } from '@berth/contracts';
import { NO_LOAD, afterChoice, type EndpointId, type WorkerId, type WorkerLoad } from '@berth/domain';
import type { LoadBalancerDirectory } from '../directory.port.js';

export interface SeenWorkersOptions {
  readonly endpointId: EndpointId;
  readonly directory: Pick<LoadBalancerDirectory, 'assignmentOf'>;
}

/** The workers of one endpoint, each with what this router has at it and has seen of it. */
export class SeenWorkers {
  readonly #options: SeenWorkersOptions;
  readonly #loads = new Map<WorkerId, WorkerLoad>();
  #choices = 0;

  constructor(options: SeenWorkersOptions) {
    this.#options = options;
  }

  /** What one of them is chosen from. */
  pool() {
    const { directory, endpointId } = this.#options;
    const assignment = directory.assignmentOf(endpointId);
    const workers: readonly AssignedWorker[] = assignment?.workers ?? [];
    return { workers, slotsPerWorker: assignment?.slotsPerWorker ?? 1, loadOf: (id: WorkerId) => this.#loads.get(id) };
  }

  /** It is being asked. */
  choose(id: WorkerId): void {
    this.#choices += 1;
    const choice = this.#choices;
    this.note(id, (load) => afterChoice(load, choice));
  }

  note(id: WorkerId, change: (load: WorkerLoad) => WorkerLoad): void {
    this.#loads.set(id, change(this.#loads.get(id) ?? NO_LOAD));
  }

  /** Forgets those that are gone, once nothing is in flight there. */
  forgetGone(): void {
    const ids = new Set(this.pool().workers.map(({ id }) => id));
    for (const [id, { inFlight }] of this.#loads) if (inFlight === 0 && !ids.has(id)) this.#loads.delete(id);
  }
}
