import type { DeliveryKey } from '@berth/domain';
import type { PendingDelivery } from '@berth/messaging';

export type { PendingDelivery } from '@berth/messaging';

/** Every delivery that is not over, known without asking. It says where to look; the record decides. */
export abstract class PendingDeliveries {
  abstract pending(): Iterable<PendingDelivery>;
  abstract get size(): number;
  /** The record is gone: an expiry and a purge are told to nobody. */
  abstract forget(key: DeliveryKey): void;
  /** Calls `listener` whenever a delivery was made or has changed. */
  abstract onSeen(listener: (key: DeliveryKey) => void): void;
}
