import type { Clock } from './clock.js';

/** Says when nothing has been heard for too long; how long the whole takes does not matter. */
export class Silence {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #onSilent: () => void;
  #cancel: () => void = () => undefined;

  /** Begins to listen at once. */
  constructor(clock: Clock, afterMs: number, onSilent: () => void) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#onSilent = onSilent;
    this.heard();
  }

  heard(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(this.#afterMs, this.#onSilent);
  }

  end(): void {
    this.#cancel();
  }
}
