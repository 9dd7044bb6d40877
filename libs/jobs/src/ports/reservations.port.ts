import type { EndpointId, JobId } from '@berth/domain';
import type { WriteOutcome } from './job-records.port.js';

/** Names a reservation: made from account, operation and idempotency key, so that it is one token and tells nothing. */
export interface ReservationKey {
  readonly endpointId: EndpointId;
  readonly name: string;
}

/** What is kept of a request with an idempotency key: which jobs it stands for, and which of them are still to be made. */
export interface Reservation {
  /** Id of the first job; the others' follow from it. */
  readonly firstId: JobId;
  /** Jobs that the request asks for, from 1. */
  readonly size: number;
  /** Items whose record is not known to be stored, in rising order. Empty: the request is accepted whole. */
  readonly missing: readonly number[];
  /** Recognises the request when it comes again. Opaque here: it is sealed. */
  readonly fingerprint: string;
  readonly createdAtMs: number;
}

export interface StoredReservation {
  readonly reservation: Reservation;
  /** The version; a write names the one it expects. */
  readonly sequence: number;
}

/** Reservations: one version per key, compare-and-set, expiring by themselves. */
export interface Reservations {
  /**
   * The latest acknowledged version; null when there is none, or no more.
   * @throws PlatformError `service-unavailable` when the store cannot be asked
   */
  read(key: ReservationKey): Promise<StoredReservation | null>;
  /** Writes the first version; `conflict` when one is there. */
  create(key: ReservationKey, reservation: Reservation, ttlMs: number): Promise<WriteOutcome>;
  /** Replaces exactly the version `expectedSequence`. */
  replace(key: ReservationKey, stored: StoredReservation, ttlMs: number): Promise<WriteOutcome>;
}
