import {
  REQUEST_COUNTS_SUBJECTS,
  readRequestCounts,
  requestCountsSubject,
  type RequestCountsMessage,
} from '@berth/contracts';
import { RouterPeers, type RouterPeersOptions } from '../../brokers/index.js';
import type { CountPeers } from './request-totals.js';

export interface NatsCountPeersOptions extends Pick<
  RouterPeersOptions<RequestCountsMessage>,
  'connection' | 'onUnreadable'
> {
  readonly routerId: string;
}

/** What routers tell each other of the requests that they have. */
export class NatsCountPeers implements CountPeers {
  readonly #routerId: string;
  readonly #peers: RouterPeers<RequestCountsMessage>;

  constructor({ routerId, ...options }: NatsCountPeersOptions) {
    const subjects = { own: requestCountsSubject(routerId), all: REQUEST_COUNTS_SUBJECTS };
    this.#routerId = routerId;
    this.#peers = new RouterPeers({ ...options, subjects, place: 'requests', read: readRequestCounts });
  }

  tell(endpoints: RequestCountsMessage['endpoints']): void {
    this.#peers.tell({ routerId: this.#routerId, endpoints });
  }

  listen(onTold: (message: RequestCountsMessage) => void): () => void {
    return this.#peers.listen(onTold);
  }
}
