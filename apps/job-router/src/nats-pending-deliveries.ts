import type { DeliveryKey } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { DeliveryWatch, type Broker } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { PendingDeliveries, PendingDelivery } from './webhooks/pending-deliveries.port.js';

export interface NatsPendingDeliveriesOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The broker's streams of deliveries, watched. */
export class NatsPendingDeliveries implements PendingDeliveries {
  readonly #watch: DeliveryWatch;
  readonly #listeners: ((key: DeliveryKey) => void)[] = [];

  constructor({ broker, clock, logger }: NatsPendingDeliveriesOptions) {
    this.#watch = new DeliveryWatch({
      broker,
      clock,
      onSeen: (key) => {
        for (const listener of this.#listeners) listener(key);
      },
      onError: (error) => {
        logger.warn('the watch of deliveries was interrupted', { error });
      },
    });
  }

  get size(): number {
    return this.#watch.size;
  }

  get fill(): number {
    return this.#watch.fill;
  }

  pending(): Iterable<PendingDelivery> {
    return this.#watch.pending();
  }

  forget(key: DeliveryKey): void {
    this.#watch.forget(key);
  }

  onSeen(listener: (key: DeliveryKey) => void): void {
    this.#listeners.push(listener);
  }

  start(): void {
    this.#watch.start();
  }

  stop(): Promise<void> {
    return this.#watch.stop();
  }
}
