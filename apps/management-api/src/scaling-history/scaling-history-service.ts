import type { ScalingBody } from '@berth/contracts/http';
import type { EndpointId } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { EndpointsService } from '../endpoints/index.js';
import type { WorkersStore } from '../workers/index.js';
import { toScalingBody } from './scaling-history.mapper.js';
import type { HistoryPage, ScalingHistoryStore } from './scaling-history.store.js';

export interface ScalingHistoryServiceOptions {
  readonly endpoints: EndpointsService;
  readonly workers: Pick<WorkersStore, 'scalingOf'>;
  readonly records: ScalingHistoryStore;
}

/** Why the caller's endpoints have as many workers as they have. Read only: the control loops write it. */
export class ScalingHistoryService {
  readonly #options: ScalingHistoryServiceOptions;

  constructor(options: ScalingHistoryServiceOptions) {
    this.#options = options;
  }

  /** @throws PlatformError `endpoint-not-found`, `scope-missing` */
  async get(caller: Caller, id: EndpointId, page: HistoryPage): Promise<ScalingBody> {
    const { endpoints, records, workers } = this.#options;
    await endpoints.get(caller, id);
    const { accountId } = caller;
    const [current, decisions] = await Promise.all([
      workers.scalingOf(accountId, id),
      records.list(accountId, id, page),
    ]);
    return toScalingBody(current, decisions, page.limit);
  }
}
