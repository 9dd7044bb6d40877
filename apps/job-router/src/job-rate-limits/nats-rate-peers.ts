import { RATES_SUBJECTS, ratesSubject, readRates, type RateNews, type RatesMessage } from '@berth/contracts';
import type { UnreadableMessage } from '@berth/domain';
import { watchConnection } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';

export interface NatsRatePeersOptions {
  readonly connection: NatsConnection;
  readonly routerId: string;
  readonly onUnreadable: (message: UnreadableMessage) => void;
}

/** The other routers, over core NATS: nothing is stored or waited for. */
export class NatsRatePeers {
  readonly #options: NatsRatePeersOptions;
  readonly #subject: string;
  #isConnected = true;

  constructor(options: NatsRatePeersOptions) {
    this.#options = options;
    this.#subject = ratesSubject(options.routerId);
    watchConnection(options.connection, {
      onLost: () => (this.#isConnected = false),
      onBack: () => (this.#isConnected = true),
    });
  }

  /** While the broker is away nothing is kept for it: what the others heard too late would count too long. */
  tell(news: readonly RateNews[]): void {
    const { connection, routerId } = this.#options;
    if (!this.#isConnected || connection.isClosed()) return;
    connection.publish(this.#subject, JSON.stringify({ routerId, news } satisfies RatesMessage));
  }

  listen(onNews: (routerId: string, news: readonly RateNews[]) => void): () => void {
    const { connection, onUnreadable } = this.#options;
    const subscription = connection.subscribe(RATES_SUBJECTS, {
      callback: (error, message) => {
        if (error !== null || message.subject === this.#subject) return;
        const text = message.string();
        // Not within the client's reading loop: what it threw would end that, quietly.
        queueMicrotask(() => {
          const told = readRates(text);
          if (told.kind === 'value') onNews(told.value.routerId, told.value.news);
          else onUnreadable({ place: 'rates', key: message.subject, reason: told.reason });
        });
      },
    });
    return () => {
      subscription.unsubscribe();
    };
  }
}
