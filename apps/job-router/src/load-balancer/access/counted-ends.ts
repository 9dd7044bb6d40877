import { OTHER_ENDPOINTS, SeriesRoom, type EndpointId } from '@berth/domain';
import type { LoadBalancerMetrics } from '../metrics.js';
import { BEGUN_OUTCOMES } from './begun-outcomes.js';

/** Counts requests that are over: of endpoints that were asked lately one by one, and all others together. */
export class CountedEnds {
  readonly #requests: LoadBalancerMetrics['requests'];
  readonly #room: SeriesRoom;
  /** Of each endpoint with series of its own: what there are series of. */
  readonly #outcomes = new Map<EndpointId, Set<string>>();

  constructor(requests: LoadBalancerMetrics['requests']) {
    this.#requests = requests;
    this.#room = new SeriesRoom({
      onEnter: (endpoint) => {
        this.#outcomes.set(endpoint, new Set(BEGUN_OUTCOMES));
        for (const outcome of BEGUN_OUTCOMES) requests.inc({ endpoint, outcome }, 0);
      },
      onLeave: (endpoint) => {
        for (const outcome of this.#outcomes.get(endpoint) ?? []) requests.remove({ endpoint, outcome });
        this.#outcomes.delete(endpoint);
      },
    });
  }

  /** @param endpointId null: the request was let to none */
  note(endpointId: EndpointId | null, outcome: string, nowMs: number): void {
    const endpoint = endpointId === null ? OTHER_ENDPOINTS : this.#room.labelOf(endpointId, nowMs);
    this.#requests.inc({ endpoint, outcome });
    if (endpointId !== null) this.#outcomes.get(endpointId)?.add(outcome);
  }
}
