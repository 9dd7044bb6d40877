import type { Clock } from '@berth/lifecycle';

interface Watched {
  readonly dueAtMs: number;
  readonly onSlow: () => void;
}

/** Tells what is not over after a time that is the same for all, with one timer for all of them. */
export class SlowWatch {
  readonly #clock: Clock;
  readonly #afterMs: number;
  /** In the order in which they are due. */
  readonly #watched = new Set<Watched>();
  #isRunning = false;

  constructor(clock: Clock, afterMs: number) {
    this.#clock = clock;
    this.#afterMs = afterMs;
  }

  /** Returns what to call when it is over. */
  begin(onSlow: () => void): () => void {
    const watched = { dueAtMs: this.#clock.monotonicMs() + this.#afterMs, onSlow };
    this.#watched.add(watched);
    if (!this.#isRunning) void this.#run();
    return () => void this.#watched.delete(watched);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let [first] = this.#watched; first !== undefined; [first] = this.#watched) {
      await this.#clock.sleep(Math.max(0, first.dueAtMs - this.#clock.monotonicMs()));
      this.#tellDue(this.#clock.monotonicMs());
    }
    this.#isRunning = false;
  }

  #tellDue(nowMs: number): void {
    for (const watched of this.#watched) {
      if (watched.dueAtMs > nowMs) return;
      this.#watched.delete(watched);
      watched.onSlow();
    }
  }
}
