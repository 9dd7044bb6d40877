import { PlatformError, deliveryKeyOf, type Delivery, type DeliveryKey, type JobKey } from '@berth/domain';
import type { Deliveries, StoredDelivery, WriteOutcome } from '@berth/jobs';
import type { Broker } from '../broker/broker.js';
import { brokerUnavailable } from '../broker/broker-errors.js';
import { compareAndSet, type Version } from '../broker/compare-and-set.js';
import { publishMessage } from '../broker/publish-message.js';
import { readDirect, readLatest, type StoredMessage } from '../broker/read-message.js';
import { UnreadableMessageError, type UnreadableMessage } from '@berth/domain';
import { STREAMS, deliveryFilter, deliverySubject } from '../topology/subjects.js';
import { encodeDelivery, readDelivery } from './delivery-codec.js';
import { deliveryHeaders } from './delivery-headers.js';

/** Above it no delivery is begun: those that are under way have to write how they end. */
const CREATE_FILL_MAX = 0.9;
const RETRY_AFTER_SECONDS = 10;

/** More ends than that of one job are not listed. */
const LISTED_MAX = 100;

/** One message per delivery; compare-and-set on its sequence decides who tries. */
export class JetStreamDeliveries implements Deliveries {
  readonly #broker: Broker;
  readonly #fill: () => number;

  /** @param fill share of the streams' room that is taken, 0 to 1 */
  constructor(broker: Broker, fill: () => number = () => 0) {
    this.#broker = broker;
    this.#fill = fill;
  }

  get fill(): number {
    return this.#fill();
  }

  async create(delivery: Delivery, ttlMs: number): Promise<void> {
    if (this.fill >= CREATE_FILL_MAX) {
      throw new PlatformError('service-unavailable', 'The store of deliveries is almost full.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    const outcome = await publishMessage(this.#broker, versionOf(delivery, 0, ttlMs));
    if (outcome.kind === 'unknown') throw brokerUnavailable(outcome.cause);
  }

  /** @throws UnreadableMessageError for what is no delivery */
  async read(key: DeliveryKey): Promise<StoredDelivery | null> {
    const message = await readLatest(this.#broker, STREAMS.deliveries(key.jobId), deliverySubject(key));
    if (message === null || message.isMarker) return null;
    const reading = this.#read(message);
    if ('place' in reading)
      throw new UnreadableMessageError(`The delivery of job ${key.jobId} cannot be read.`, reading);
    return { delivery: reading, sequence: message.sequence };
  }

  replace(delivery: Delivery, expectedSequence: number, ttlMs: number): Promise<WriteOutcome> {
    return compareAndSet(this.#broker, versionOf(delivery, expectedSequence, ttlMs));
  }

  /** By direct gets, since nothing is decided by it: each for the next that matches. */
  async list(key: JobKey): Promise<readonly Delivery[]> {
    const found: Delivery[] = [];
    let sequence = 1;
    while (found.length < LISTED_MAX) {
      const next = { next: deliveryFilter(key), sequence };
      const message = await readDirect(this.#broker, STREAMS.deliveries(key.jobId), next);
      if (message === null) break;
      const reading = message.isMarker ? null : this.#read(message);
      // What is wrong with one delivery is no reason to keep the others from being told.
      if (reading !== null && !('place' in reading)) found.push(reading);
      sequence = message.sequence + 1;
    }
    return found.sort((one, other) => one.attempt - other.attempt);
  }

  #read({ body, subject }: StoredMessage): Delivery | UnreadableMessage {
    const reading = readDelivery(body);
    if (reading.kind === 'value') return reading.value;
    const unreadable = { place: 'deliveries', key: subject, reason: reading.reason };
    this.#broker.noteUnreadable(unreadable);
    return unreadable;
  }
}

const versionOf = (delivery: Delivery, expectedSequence: number, ttlMs: number): Version => ({
  subject: deliverySubject(deliveryKeyOf(delivery)),
  body: encodeDelivery(delivery),
  headers: deliveryHeaders(delivery),
  ttlMs,
  expectedSequence,
});
