import type { EndpointId } from '../ids.js';

/** Requests of one endpoint: those that wait for a worker, and those that workers have. */
export interface RequestCounts {
  readonly held: number;
  readonly inFlight: number;
}

export const NO_REQUESTS: RequestCounts = { held: 0, inFlight: 0 };

export const addCounts = (a: RequestCounts, b: RequestCounts): RequestCounts => ({
  held: a.held + b.held,
  inFlight: a.inFlight + b.inFlight,
});

interface Told extends RequestCounts {
  readonly heardAtMs: number;
}

/** More routers than an installation has; what others say is left out. */
const ROUTERS_MAX = 256;

/** What the other routers told last of the requests that each of them has. Instants are monotonic and the listener's own. */
export class ToldCounts {
  readonly #routers = new Map<string, Map<EndpointId, Told>>();
  readonly #staleMs: number;

  /** @param staleMs how long a word counts: a router that is silent for so long is gone, and its requests with it */
  constructor(staleMs: number) {
    this.#staleMs = staleMs;
  }

  hear(routerId: string, counts: ReadonlyMap<EndpointId, RequestCounts>, heardAtMs: number): void {
    const known = this.#routers.get(routerId);
    if (known === undefined && this.#routers.size >= ROUTERS_MAX) return;
    const told = known ?? new Map<EndpointId, Told>();
    this.#routers.set(routerId, told);
    for (const [endpointId, { held, inFlight }] of counts) {
      if (held + inFlight === 0) told.delete(endpointId);
      else told.set(endpointId, { held, inFlight, heardAtMs });
    }
  }

  of(endpointId: EndpointId, nowMs: number): RequestCounts {
    const parts = [...this.#routers.values()].flatMap((told) => told.get(endpointId) ?? []);
    return parts.filter((told) => this.#counts(told, nowMs)).reduce(addCounts, NO_REQUESTS);
  }

  /** Forgets what counts no more. */
  forget(nowMs: number): void {
    for (const [routerId, told] of this.#routers) {
      for (const [endpointId, each] of told) if (!this.#counts(each, nowMs)) told.delete(endpointId);
      if (told.size === 0) this.#routers.delete(routerId);
    }
  }

  #counts({ heardAtMs }: Told, nowMs: number): boolean {
    return nowMs - heardAtMs < this.#staleMs;
  }
}
