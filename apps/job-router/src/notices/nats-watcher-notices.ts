import { noticeSubject, type NoticeMessage } from '@berth/contracts';
import { encodeNotice } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';

export interface NatsWatcherNoticesOptions {
  readonly connection: Pick<NatsConnection, 'publish'>;
  /** Names this process to owners. */
  readonly incarnation: string;
  /** Tells those who wait at this router. Must not throw. */
  readonly tellOwn: (notice: NoticeMessage) => void;
  readonly logger: Logger;
}

/**
 * Tells routers, by incarnation, what happened to jobs that they wait for: others over the broker, and this one at once. A
 * hint: it may be lost.
 */
export class NatsWatcherNotices {
  readonly #options: NatsWatcherNoticesOptions;

  constructor(options: NatsWatcherNoticesOptions) {
    this.#options = options;
  }

  tell(routers: readonly string[], notice: NoticeMessage): void {
    const { incarnation, tellOwn } = this.#options;
    const others = routers.filter((router) => router !== incarnation);
    if (others.length < routers.length) tellOwn(notice);
    if (others.length > 0) this.#publish(others, encodeNotice(notice));
  }

  /** A router that is not told looks by itself soon. */
  #publish(routers: readonly string[], text: string): void {
    const { connection, logger } = this.#options;
    try {
      for (const router of routers) connection.publish(noticeSubject(router), text);
    } catch (error) {
      logger.debug('routers that wait for a job could not be told of it', { routers: routers.length, error });
    }
  }
}
