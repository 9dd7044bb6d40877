import { RATES_SUBJECTS, ratesSubject, readRates, type RateNews, type RatesMessage } from '@berth/contracts';
import { RouterPeers, type RouterPeersOptions } from '../brokers/index.js';

export interface NatsRatePeersOptions extends Pick<RouterPeersOptions<RatesMessage>, 'connection' | 'onUnreadable'> {
  readonly routerId: string;
}

/** What routers tell each other of the rates that they count. */
export class NatsRatePeers {
  readonly #routerId: string;
  readonly #peers: RouterPeers<RatesMessage>;

  constructor({ routerId, ...options }: NatsRatePeersOptions) {
    const subjects = { own: ratesSubject(routerId), all: RATES_SUBJECTS };
    this.#routerId = routerId;
    this.#peers = new RouterPeers({ ...options, subjects, place: 'rates', read: readRates });
  }

  tell(news: readonly RateNews[]): void {
    this.#peers.tell({ routerId: this.#routerId, news });
  }

  listen(onNews: (routerId: string, news: readonly RateNews[]) => void): () => void {
    return this.#peers.listen(({ news, routerId }) => onNews(routerId, news));
  }
}
