import type { Delivery, DeliveryKey, JobKey } from '@berth/domain';
import type { WriteOutcome } from './job-records.port.js';

export interface StoredDelivery {
  readonly delivery: Delivery;
  /** The record's version; a write names the one it expects. */
  readonly sequence: number;
}

/** The records of deliveries: one per end of a job's attempt, compare-and-set, expiring by themselves. */
export interface Deliveries {
  /**
   * Writes the first version; one that is there already stays as it is, and that is success.
   *
   * @throws PlatformError `service-unavailable` when it is not known to be there
   */
  create(delivery: Delivery, ttlMs: number): Promise<void>;
  /**
   * The latest acknowledged version, or null when there is none.
   *
   * @throws PlatformError `service-unavailable` when the store cannot be asked
   */
  read(key: DeliveryKey): Promise<StoredDelivery | null>;
  /** Replaces exactly the version `expectedSequence`. */
  replace(delivery: Delivery, expectedSequence: number, ttlMs: number): Promise<WriteOutcome>;
  /** Those of one job, in the order of its attempts. */
  list(key: JobKey): Promise<readonly Delivery[]>;
  /** Share of the store's room that is taken, 0 to 1, as far as it is known. */
  readonly fill: number;
}
