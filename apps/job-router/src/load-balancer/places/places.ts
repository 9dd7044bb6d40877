import type { EndpointId, HeldRequest, RequestCounts } from '@berth/domain';
import { RequestShares, type RequestSharesOptions } from './request-shares.js';
import { EndpointPlaces, type EndpointPlacesOptions } from './endpoint-places.js';
import type { PlaceOutcome, PlaceWish } from './waiter.js';

type PlacesOptions = Omit<EndpointPlacesOptions, 'endpointId' | 'hold' | 'onChange'> & RequestSharesOptions;

/** The lines of all endpoints. One that has neither workers nor requests is forgotten. */
export class Places {
  readonly #options: PlacesOptions;
  readonly #shares: RequestShares;
  readonly #endpoints = new Map<EndpointId, EndpointPlaces>();
  readonly #listeners: ((endpointId: EndpointId) => void)[] = [];
  #isClosed = false;

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#shares = new RequestShares(options);
  }

  /** Calls `listener` whenever what an endpoint has here may have changed. */
  onChange(listener: (endpointId: EndpointId) => void): void {
    this.#listeners.push(listener);
  }

  /** @throws PlatformError why there is no worker for it */
  async place(endpointId: EndpointId, wish: PlaceWish): Promise<PlaceOutcome> {
    const end = this.#shares.begin(endpointId);
    let place: PlaceOutcome = null;
    try {
      await this.#learnWanted(endpointId, wish);
      if (!wish.gone.aborted) place = await this.#at(endpointId).place(wish);
      return place;
    } finally {
      if (place === null || place.stream.closed) end();
      else place.stream.once('close', end);
    }
  }

  /** Its workers are others, or other than they were. */
  assignmentChanged(endpointId: EndpointId): void {
    this.#endpoints.get(endpointId)?.changed();
    this.#forgetIdle(endpointId);
  }

  /** Some endpoint was deleted: whoever waits for a worker of it waits in vain. */
  endpointDeleted(): void {
    for (const places of this.#endpoints.values()) places.look();
  }

  /** Those that wait for a worker hear that they wait in vain; nothing waits from now on. */
  close(): void {
    this.#isClosed = true;
    for (const places of this.#endpoints.values()) places.close();
  }

  /** What this router has of it. */
  countsOf(endpointId: EndpointId): RequestCounts {
    const places = this.#endpoints.get(endpointId);
    return { held: places?.held().length ?? 0, inFlight: places?.inFlight ?? 0 };
  }

  /** Each request that has no worker, oldest first. */
  heldOf(endpointId: EndpointId): readonly HeldRequest[] {
    return this.#endpoints.get(endpointId)?.held() ?? [];
  }

  endpointIds(): readonly EndpointId[] {
    return [...this.#endpoints.keys()];
  }

  /** Of all endpoints together. */
  total(): RequestCounts {
    const counts = this.endpointIds().map((endpointId) => this.countsOf(endpointId));
    return counts.reduce((sum, { held, inFlight }) => ({ held: sum.held + held, inFlight: sum.inFlight + inFlight }), {
      held: 0,
      inFlight: 0,
    });
  }

  /** A worker that its caller knows by another router may be news here. */
  async #learnWanted(endpointId: EndpointId, { affinity }: PlaceWish): Promise<void> {
    const { directory } = this.#options;
    const workers = directory.assignmentOf(endpointId)?.workers ?? [];
    if (affinity.kind !== 'only' || workers.some(({ id }) => id === affinity.workerId)) return;
    await directory.refreshAssignment(endpointId);
  }

  #at(endpointId: EndpointId): EndpointPlaces {
    const known = this.#endpoints.get(endpointId);
    if (known !== undefined) return known;
    const places = new EndpointPlaces({
      ...this.#options,
      endpointId,
      hold: (bytes) => this.#shares.hold(endpointId, bytes),
      onChange: () => {
        this.#forgetIdle(endpointId);
        for (const listener of this.#listeners) listener(endpointId);
      },
    });
    if (this.#isClosed) places.close();
    this.#endpoints.set(endpointId, places);
    return places;
  }

  /** What was seen of workers is worth keeping as long as there are any. */
  #forgetIdle(endpointId: EndpointId): void {
    const hasWorkers = (this.#options.directory.assignmentOf(endpointId)?.workers.length ?? 0) > 0;
    if (!hasWorkers && this.#endpoints.get(endpointId)?.isIdle === true) this.#endpoints.delete(endpointId);
  }
}
