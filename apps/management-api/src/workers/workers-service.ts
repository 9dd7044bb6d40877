import type { WorkerActionDto, WorkerBody, WorkerListBody } from '@berth/contracts/http';
import { PlatformError, type EndpointId, type HardwareCatalog, type WorkerId } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import type { AuditStore } from '../audit/index.js';
import type { EndpointsService } from '../endpoints/index.js';
import type { Transactions } from '../persistence/index.js';
import type { ControlSnapshots } from '../snapshots/index.js';
import { toWorkerBody, toWorkerList } from './worker.mapper.js';
import type { PlacedWorker, WorkersStore } from './workers.store.js';

export interface WorkersServiceOptions {
  readonly catalog: HardwareCatalog;
  readonly endpoints: EndpointsService;
  readonly records: WorkersStore;
  readonly transactions: Transactions;
  readonly audit: AuditStore;
  readonly snapshots: Pick<ControlSnapshots, 'announce'>;
  readonly clock: Clock;
}

export interface WorkerDeed extends WorkerActionDto {
  readonly workerId: WorkerId;
}

/** Workers of the caller's endpoints. The control loops write them; a caller can ask for a restart. */
export class WorkersService {
  readonly #options: WorkersServiceOptions;

  constructor(options: WorkersServiceOptions) {
    this.#options = options;
  }

  /** @throws PlatformError `endpoint-not-found`, `scope-missing` */
  async list(caller: Caller, id: EndpointId): Promise<WorkerListBody> {
    const { catalog, clock, endpoints, records } = this.#options;
    const endpoint = await endpoints.get(caller, id);
    const { accountId } = caller;
    const [workers, scaling] = await Promise.all([records.ofEndpoint(accountId, id), records.scalingOf(accountId, id)]);
    return toWorkerList(endpoint, { workers, scaling }, { catalog, nowMs: clock.nowMs() });
  }

  /**
   * Lets its agent replace the worker's container, and forget its failed starts.
   *
   * @throws PlatformError `worker-not-found`, also where there is no such endpoint; else as `list`
   */
  async act(caller: Caller, id: EndpointId, { action, workerId }: WorkerDeed): Promise<WorkerBody> {
    const { audit, catalog, clock, endpoints, records, snapshots, transactions } = this.#options;
    const { accountId } = caller;
    found(await records.find(accountId, id, workerId));
    const { release } = await endpoints.get(caller, id);
    await transactions.run(async () => {
      switch (action) {
        case 'restart':
          if (!(await records.restart(accountId, id, workerId))) found(null);
          await audit.append({ caller, action: 'worker.restarted', resourceId: workerId, diff: [] });
          return;
        default:
          action satisfies never;
      }
    });
    snapshots.announce(id);
    return toWorkerBody(found(await records.find(accountId, id, workerId)), release, { catalog, nowMs: clock.nowMs() });
  }
}

function found(worker: PlacedWorker | null): PlacedWorker {
  if (worker === null) throw new PlatformError('worker-not-found', 'The endpoint has no such worker.');
  return worker;
}
