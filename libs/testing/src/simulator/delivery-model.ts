import { deliveryKeyOf, type Delivery, type DeliveryKey, type JobKey } from '@berth/domain';
import type { StoredDelivery, WriteOutcome } from '@berth/jobs';

interface Kept extends StoredDelivery {
  readonly expiresAtMs: number;
}

const nameOf = ({ endpointId, jobId, attempt }: DeliveryKey): string => `${endpointId}/${jobId}/${attempt}`;

/** What the broker promises to the records of deliveries, in memory: one version each, compare-and-set, expiry. */
export class DeliveryModel {
  readonly #kept = new Map<string, Kept>();
  readonly #now: () => number;
  #sequence = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  read(key: DeliveryKey): StoredDelivery | null {
    const kept = this.#kept.get(nameOf(key));
    if (kept === undefined || this.#now() >= kept.expiresAtMs) return null;
    return { delivery: kept.delivery, sequence: kept.sequence };
  }

  /** @param expectedSequence 0: none may be there */
  write(delivery: Delivery, expectedSequence: number, ttlMs: number): WriteOutcome {
    if ((this.read(deliveryKeyOf(delivery))?.sequence ?? 0) !== expectedSequence) return { kind: 'conflict' };
    this.#sequence += 1;
    const sequence = this.#sequence;
    this.#kept.set(nameOf(delivery), { delivery, sequence, expiresAtMs: this.#now() + ttlMs });
    return { kind: 'written', sequence };
  }

  /** Every one that is there now. */
  all(): readonly Delivery[] {
    return [...this.#kept.values()]
      .filter(({ expiresAtMs }) => this.#now() < expiresAtMs)
      .map(({ delivery }) => delivery);
  }

  list({ endpointId, jobId }: JobKey): readonly Delivery[] {
    return this.all()
      .filter((delivery) => delivery.endpointId === endpointId && delivery.jobId === jobId)
      .sort((one, other) => one.attempt - other.attempt);
  }
}
