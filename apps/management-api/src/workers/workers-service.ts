import type { WorkerListBody } from '@berth/contracts/http';
import type { EndpointId } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import type { EndpointsService } from '../endpoints/index.js';
import { toWorkerList } from './worker.mapper.js';
import type { WorkersStore } from './workers.store.js';

export interface WorkersServiceOptions {
  readonly endpoints: EndpointsService;
  readonly records: WorkersStore;
  readonly clock: Clock;
}

/** Workers of the caller's endpoints. Read only: the control loops write them. */
export class WorkersService {
  readonly #options: WorkersServiceOptions;

  constructor(options: WorkersServiceOptions) {
    this.#options = options;
  }

  /** @throws PlatformError `endpoint-not-found`, `scope-missing` */
  async list(caller: Caller, id: EndpointId): Promise<WorkerListBody> {
    const { clock, endpoints, records } = this.#options;
    const endpoint = await endpoints.get(caller, id);
    const { accountId } = caller;
    const [workers, scaling] = await Promise.all([records.ofEndpoint(accountId, id), records.scalingOf(accountId, id)]);
    return toWorkerList(endpoint, { workers, scaling }, clock.nowMs());
  }
}
