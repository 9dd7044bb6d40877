import type { Reservation, ReservationKey, Reservations, StoredReservation, WriteOutcome } from '@berth/jobs';
import type { Broker } from '../broker/broker.js';
import { compareAndSet } from '../broker/compare-and-set.js';
import { readLatest } from '../broker/read-message.js';
import { STREAMS, reservationSubject } from '../topology/subjects.js';
import { decodeReservation, encodeReservation } from './reservation-codec.js';

/** One message per key; the broker's compare-and-set on its sequence decides which request was first. */
export class JetStreamReservations implements Reservations {
  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  async read(key: ReservationKey): Promise<StoredReservation | null> {
    const message = await readLatest(this.#broker, STREAMS.reservations(key.name), reservationSubject(key));
    if (message === null || message.isMarker) return null;
    return { reservation: decodeReservation(message.body), sequence: message.sequence };
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
