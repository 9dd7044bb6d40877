import type { Clock } from '@berth/lifecycle';

const PING_EVERY_MS = 5_000;
/** A peer that is frozen, or cut off, is noticed this long after the ping that it did not answer. */
const PING_WITHIN_MS = 10_000;

export interface KeepAliveActs {
  readonly send: () => void;
  /** Called once, when an answer does not come in time. */
  readonly onSilent: () => void;
}

/** Asks the other side again and again whether it is there, until it is stopped. */
export class KeepAlive {
  readonly #stop: () => void;
  #cancelLimit: (() => void) | null = null;

  constructor(clock: Clock, { onSilent, send }: KeepAliveActs) {
    this.#stop = clock.every(PING_EVERY_MS, () => {
      if (this.#cancelLimit !== null) return;
      this.#cancelLimit = clock.after(PING_WITHIN_MS, onSilent);
      send();
    });
  }

  heard(): void {
    this.#cancelLimit?.();
    this.#cancelLimit = null;
  }

  stop(): void {
    this.#stop();
    this.heard();
  }
}
