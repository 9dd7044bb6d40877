import type { RateNews } from '@berth/contracts';

/** The other routers, which count the same requests. */
export abstract class RatePeers {
  /** Tells all of them. A hint: it may be lost, and while the broker is away nobody hears it. */
  abstract tell(news: readonly RateNews[]): void;
  /** Hears what others tell, until the returned function is called. Never what this router tells itself. */
  abstract listen(onNews: (routerId: string, news: readonly RateNews[]) => void): () => void;
}
