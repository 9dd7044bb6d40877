import type { DeliveryMaker } from './delivery-maker.js';
import type { DeliverySender } from './delivery-sender.js';

/** The loops that tell receivers. */
export class Webhooks {
  readonly #loops: readonly [DeliverySender, DeliveryMaker];

  constructor(sender: DeliverySender, maker: DeliveryMaker) {
    this.#loops = [sender, maker];
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }
}
