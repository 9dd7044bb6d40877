import { isEnded, isPurged, type EndpointId, type JobKey, type JobState } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Msg } from '@nats-io/transport-node';
import type { Broker } from '../broker/broker.js';
import { RECORD_HEADERS } from '../job-records/record-headers.js';
import { recordNoticeSubject, ticketNoticeFilter } from '../topology/subjects.js';

/** What a caller holds that waits for one job. */
export interface JobWatch {
  /**
   * Resolves true when there was such news since the watch began or last said so, false after `timeoutMs` or when
   * `signal` aborts. One waiter at a time.
   */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  dispose(): void;
}

/** `any`: the record was written, or somebody rang. `end`: it was written for a job that has ended or was purged. */
export type JobNews = 'any' | 'end';

/**
 * Hints that something was written: the broker repeats the headers of records and tickets on plain subjects. They may
 * be lost, so whoever waits also looks by itself from time to time.
 */
export class JobNotifications {
  readonly #broker: Broker;
  readonly #clock: Clock;

  constructor(broker: Broker, clock: Clock) {
    this.#broker = broker;
    this.#clock = clock;
  }

  /** To be called before the job is written or read: what happens in between is then not missed. */
  watch(key: JobKey, news: JobNews = 'any'): JobWatch {
    const subscribe = (onNews: () => void): (() => void) => {
      const subscription = this.#broker.connection.subscribe(recordNoticeSubject(key), {
        callback: (error, notice) => {
          if (error === null && (news === 'any' || isOfAnEnd(notice))) onNews();
        },
      });
      return () => {
        subscription.unsubscribe();
      };
    };
    return new NoticeWatch(this.#clock, subscribe);
  }

  /** Rings every watch of the job, wherever it is: for what the broker does not tell by itself, such as stream chunks. */
  ring(key: JobKey): void {
    this.#broker.connection.publish(recordNoticeSubject(key));
  }

  /** Calls `onRing` for each new ticket of the endpoint, until the returned function is called. */
  onTicket(endpointId: EndpointId, onRing: () => void): () => void {
    const subscription = this.#broker.connection.subscribe(ticketNoticeFilter(endpointId), {
      callback: (error) => {
        // Not within the client's reading loop: what it threw would end that, quietly.
        if (error === null) queueMicrotask(onRing);
      },
    });
    return () => {
      subscription.unsubscribe();
    };
  }
}

function isOfAnEnd({ headers }: Msg): boolean {
  const state = headers?.get(RECORD_HEADERS.state) as JobState | '' | undefined;
  if (headers === undefined || state === undefined || state === '') return false;
  return isEnded(state) || isPurged({ expiresAtMs: Number(headers.get(RECORD_HEADERS.expiresAt)) });
}

class NoticeWatch implements JobWatch {
  readonly #clock: Clock;
  readonly #unsubscribe: () => void;
  #hasRung = false;
  #wake: AbortController | undefined;

  /** @param subscribe begins to hear the news, and returns what ends it */
  constructor(clock: Clock, subscribe: (onNews: () => void) => () => void) {
    this.#clock = clock;
    this.#unsubscribe = subscribe(() => {
      this.#ring();
    });
  }

  async wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (!this.#hasRung) {
      this.#wake = new AbortController();
      const { signal: woken } = this.#wake;
      await this.#clock.sleep(timeoutMs, signal === undefined ? woken : AbortSignal.any([woken, signal]));
      this.#wake = undefined;
    }
    const hasRung = this.#hasRung;
    this.#hasRung = false;
    return hasRung;
  }

  dispose(): void {
    this.#unsubscribe();
    this.#wake?.abort();
  }

  #ring(): void {
    this.#hasRung = true;
    this.#wake?.abort();
  }
}
