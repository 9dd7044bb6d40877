import { noticeSubject, type NoticeMessage } from '@berth/contracts';
import { readNotice, type Broker } from '@berth/messaging';
import type { JobNotices } from '../edge/index.js';

/** The notices of owners in other routers to this one. */
export class NatsJobNotices implements JobNotices {
  readonly #broker: Pick<Broker, 'connection' | 'noteUnreadable'>;
  readonly #subject: string;

  /** @param incarnation names this process to owners */
  constructor(broker: Pick<Broker, 'connection' | 'noteUnreadable'>, incarnation: string) {
    this.#broker = broker;
    this.#subject = noticeSubject(incarnation);
  }

  listen(onNotice: (notice: NoticeMessage) => void): () => void {
    const subscription = this.#broker.connection.subscribe(this.#subject, {
      callback: (error, message) => {
        if (error !== null) return;
        const reading = readNotice(message.data);
        if (reading.kind === 'value') onNotice(reading.value);
        else this.#broker.noteUnreadable({ place: 'notices', key: this.#subject, reason: reading.reason });
      },
    });
    return () => {
      subscription.unsubscribe();
    };
  }
}
