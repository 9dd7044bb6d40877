import {
  deliveryDueAtMs,
  encodeJson,
  webhookMessageId,
  type Delivery,
  type DeliveryTry,
  type JobKey,
  type RawJson,
} from '@berth/domain';
import { readJob, type JobStore } from '@berth/jobs';
import { jobNotFound } from '../ids.js';
import { patiently } from '../patiently.js';

/** What became of a job's webhook, for the tenant that gave it. */
export class DeliveryLog {
  readonly #store: JobStore;

  constructor(store: JobStore) {
    this.#store = store;
  }

  /**
   * Also of a job that has gone itself: the log is kept longer.
   *
   * @throws PlatformError `job-not-found`, `service-unavailable`
   */
  async read(key: JobKey): Promise<RawJson> {
    const deliveries = await patiently(this.#store, () => this.#store.deliveries.list(key));
    if (deliveries.length === 0 && (await patiently(this.#store, () => readJob(this.#store, key))) === null) {
      throw jobNotFound();
    }
    const nowMs = this.#store.clock.nowMs();
    return encodeJson({ deliveries: deliveries.map((delivery) => entryOf(delivery, nowMs)) });
  }
}

function entryOf(delivery: Delivery, nowMs: number): object {
  const nextAtMs = deliveryDueAtMs(delivery);
  return {
    id: webhookMessageId(delivery),
    url: delivery.url,
    status: delivery.outcome ?? 'pending',
    attempts: delivery.tries.map((each) => attemptOf(each, nowMs)),
    ...(nextAtMs === null || delivery.claim !== null ? {} : { nextAttemptAt: instant(nextAtMs) }),
  };
}

/** One that is under way has neither an answer nor an error. */
const attemptOf = ({ atMs, statusCode, error, durationMs }: DeliveryTry, nowMs: number): object => ({
  at: instant(atMs),
  ...(statusCode === null ? {} : { statusCode }),
  ...(error === null ? {} : { error }),
  durationMs: durationMs ?? Math.max(0, nowMs - atMs),
});

const instant = (atMs: number): string => new Date(atMs).toISOString();
