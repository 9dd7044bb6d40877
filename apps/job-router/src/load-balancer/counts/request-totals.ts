import type { RequestCountsMessage } from '@berth/contracts';
import { ToldCounts, addCounts, type EndpointId, type RequestCounts } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Places } from '../places/places.js';

/** The other routers. */
export interface CountPeers {
  tell(endpoints: RequestCountsMessage['endpoints']): void;
  /** @returns stops to listen */
  listen(onTold: (message: RequestCountsMessage) => void): () => void;
}

export interface RequestTotalsOptions {
  readonly places: Pick<Places, 'countsOf' | 'endpointIds'>;
  readonly peers: CountPeers;
  readonly clock: Clock;
}

const TELL_MS = 1_000;
/** Some lost messages do no harm; a router that is gone counts no longer than this. */
const STALE_MS = 5_000;
/** Endpoints in one message: it must stay below the broker's message limit. */
const ENDPOINTS_PER_MESSAGE = 2_000;

/** The requests to load-balanced endpoints that all routers have together. */
export class RequestTotals {
  readonly #options: RequestTotalsOptions;
  readonly #told = new ToldCounts(STALE_MS);
  /** Of which something was told that is not none. */
  #named = new Set<EndpointId>();
  #stops: readonly (() => void)[] = [];

  constructor(options: RequestTotalsOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, peers } = this.#options;
    this.#stops = [
      peers.listen(({ endpoints, routerId }) => {
        const counts = new Map(endpoints.map(({ endpointId, ...each }) => [endpointId, each]));
        this.#told.hear(routerId, counts, clock.monotonicMs());
      }),
      clock.every(TELL_MS, () => {
        this.#tell();
        this.#told.forget(clock.monotonicMs());
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  of(endpointId: EndpointId): RequestCounts {
    const { clock, places } = this.#options;
    return addCounts(places.countsOf(endpointId), this.#told.of(endpointId, clock.monotonicMs()));
  }

  /** All that there is, and once where there is nothing any more. */
  #tell(): void {
    const { peers, places } = this.#options;
    const ids = new Set([...this.#named, ...places.endpointIds()]);
    const counts = [...ids].map((endpointId) => ({ endpointId, ...places.countsOf(endpointId) }));
    const present = counts.filter(({ held, inFlight }) => held + inFlight > 0).map(({ endpointId }) => endpointId);
    const news = counts.filter(({ endpointId, held, inFlight }) => held + inFlight > 0 || this.#named.has(endpointId));
    this.#named = new Set(present);
    for (let at = 0; at < news.length; at += ENDPOINTS_PER_MESSAGE) {
      peers.tell(news.slice(at, at + ENDPOINTS_PER_MESSAGE));
    }
  }
}
