import type { Clock } from '@berth/lifecycle';

/** Rings once at an instant; setting it again replaces the instant. */
export class ResettableTimer {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #waiting = new AbortController();

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** @param atMs Unix ms, one that is past rings at once; null for never */
  set(atMs: number | null): void {
    this.#waiting.abort();
    if (atMs === null) return;
    this.#waiting = new AbortController();
    void this.#wait(atMs, this.#waiting.signal);
  }

  async #wait(atMs: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(Math.max(0, atMs - this.#clock.nowMs()), signal);
    if (!signal.aborted) this.#ring();
  }
}
