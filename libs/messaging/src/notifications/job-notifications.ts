import type { EndpointId, JobKey } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { recordNoticeSubject, ticketNoticeFilter } from '../topology/subjects.js';

/** What a caller holds that waits for one job. */
export interface JobWatch {
  /**
   * Resolves true when the record was written since the watch began or last said so, false after `timeoutMs` or when
   * `signal` aborts. One waiter at a time.
   */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  dispose(): void;
}

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
  watch(key: JobKey): JobWatch {
    return new SubjectWatch(this.#broker, this.#clock, recordNoticeSubject(key));
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

class SubjectWatch implements JobWatch {
  readonly #clock: Clock;
  readonly #unsubscribe: () => void;
  #hasRung = false;
  #wake: AbortController | undefined;

  constructor(broker: Broker, clock: Clock, subject: string) {
    this.#clock = clock;
    const subscription = broker.connection.subscribe(subject, {
      callback: (error) => {
        if (error === null) this.#ring();
      },
    });
    this.#unsubscribe = () => {
      subscription.unsubscribe();
    };
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
