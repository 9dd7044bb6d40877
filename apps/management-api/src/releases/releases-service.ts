import type { ReleaseListBody } from '@berth/contracts/http';
import type { EndpointId } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { EndpointsService } from '../endpoints/index.js';
import type { WorkersStore } from '../workers/index.js';
import { toReleaseList } from './release.mapper.js';
import type { ReleasesStore } from './releases.store.js';

export interface ReleasesServiceOptions {
  readonly endpoints: EndpointsService;
  readonly records: ReleasesStore;
  readonly workers: Pick<WorkersStore, 'ofEndpoint' | 'scalingOf'>;
}

/** Releases of the caller's endpoints, and how far the latest has come. Read only: an update makes them. */
export class ReleasesService {
  readonly #options: ReleasesServiceOptions;

  constructor(options: ReleasesServiceOptions) {
    this.#options = options;
  }

  /** @throws PlatformError `endpoint-not-found`, `scope-missing` */
  async list(caller: Caller, id: EndpointId): Promise<ReleaseListBody> {
    const { endpoints, records, workers } = this.#options;
    const endpoint = await endpoints.get(caller, id);
    const [releases, placed, scaling] = await Promise.all([
      records.ofEndpoint(caller.accountId, id),
      workers.ofEndpoint(caller.accountId, id),
      workers.scalingOf(caller.accountId, id),
    ]);
    return toReleaseList(endpoint, { releases, workers: placed, starts: scaling?.starts ?? null });
  }
}
