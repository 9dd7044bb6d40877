import type { Reservation, ReservationKey, Reservations, StoredReservation, WriteOutcome } from '@berth/jobs';
import type { Broker } from '../broker/broker.js';
import { compareAndSet } from '../broker/compare-and-set.js';
import { readLatest } from '../broker/read-message.js';
import { UnreadableMessageError } from '@berth/domain';
import { STREAMS, reservationSubject } from '../topology/subjects.js';
import { encodeReservation, readReservation } from './reservation-codec.js';

/** One message per key; the broker's compare-and-set on its sequence decides which request was first. */
export class JetStreamReservations implements Reservations {
  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /** @throws UnreadableMessageError for what is no reservation */
  async read(key: ReservationKey): Promise<StoredReservation | null> {
    const message = await readLatest(this.#broker, STREAMS.reservations(key.name), reservationSubject(key));
    if (message === null || message.isMarker) return null;
    const reading = readReservation(message.body);
    if (reading.kind === 'value') return { reservation: reading.value, sequence: message.sequence };
    // As good as none it is not: under the same key the jobs could be made twice.
    const unreadable = { place: 'reservations', key: message.subject, reason: reading.reason };
    this.#broker.noteUnreadable(unreadable);
    throw new UnreadableMessageError('What is kept of this idempotency key cannot be read; use another.', unreadable);
  }

  create(key: ReservationKey, reservation: Reservation, ttlMs: number): Promise<WriteOutcome> {
    return this.replace(key, { reservation, sequence: 0 }, ttlMs);
  }

  replace(key: ReservationKey, { reservation, sequence }: StoredReservation, ttlMs: number): Promise<WriteOutcome> {
    return compareAndSet(this.#broker, {
      subject: reservationSubject(key),
      body: encodeReservation(reservation),
      ttlMs,
      expectedSequence: sequence,
    });
  }
}
