import { CONTROL_PULSE_SUBJECT } from '@berth/contracts';
import type { Clock } from '@berth/lifecycle';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';

/** Signs of life of the control plane. */
export class ControlPulse {
  readonly #connection: NatsConnection;
  readonly #clock: Pick<Clock, 'nowMs'>;
  #subscription: Subscription | undefined;
  #heardAtMs: number;

  constructor(connection: NatsConnection, clock: Pick<Clock, 'nowMs'>) {
    this.#connection = connection;
    this.#clock = clock;
    this.#heardAtMs = clock.nowMs();
  }

  /** The last one, Unix ms by this router's clock; before the first, when this router began to listen. */
  get heardAtMs(): number {
    return this.#heardAtMs;
  }

  start(): void {
    this.#heardAtMs = this.#clock.nowMs();
    this.#subscription = this.#connection.subscribe(CONTROL_PULSE_SUBJECT, {
      callback: (error) => {
        // Without the right to listen there is silence, and that is what is then told.
        if (error === null) this.#heardAtMs = this.#clock.nowMs();
      },
    });
  }

  stop(): void {
    this.#subscription?.unsubscribe();
  }
}
