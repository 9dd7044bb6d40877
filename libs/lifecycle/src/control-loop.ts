import type { Clock } from './clock.js';

export interface ControlLoopOptions {
  /** As metrics name it: `endpoint.scaling`. */
  readonly name: string;
  /** The longest time between two runs, hurried or not. */
  readonly intervalMs: number;
  readonly clock: Clock;
  /** Reads the truth, decides, applies. Must be safe to run twice. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Told of each run that threw; the loop goes on with the next. */
  readonly onError: (name: string, error: unknown) => void;
}

/**
 * A level-triggered loop: runs on a timer, runs at once when hurried, never runs twice at the same time.
 * A hint that arrives during a run causes one more run after it.
 */
export class ControlLoop {
  readonly #options: ControlLoopOptions;
  readonly #stop = new AbortController();
  #wake = new AbortController();
  #isHurried = false;
  #beganAtMs = Number.NEGATIVE_INFINITY;
  #isPacing = false;
  #finished: Promise<void> | undefined;

  constructor(options: ControlLoopOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Starting twice is the same as starting once. */
  start(): void {
    this.#finished ??= this.#loop();
  }

  /** Asks for a run as soon as possible. */
  hurry(): void {
    this.#isHurried = true;
    this.#wake.abort();
  }

  /** Asks for a run no sooner than `pauseMs` after the last one began: for news that may come by the thousand. */
  hurryPaced(pauseMs: number): void {
    if (this.#isPacing) return;
    this.#isPacing = true;
    const { clock } = this.#options;
    const leftMs = Math.max(0, this.#beganAtMs + pauseMs - clock.monotonicMs());
    void clock.sleep(leftMs, this.#stop.signal).then(() => {
      this.#isPacing = false;
      this.hurry();
    });
  }

  /** Resolves once the present run is over and no other will come. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake.abort();
    await this.#finished;
  }

  async #loop(): Promise<void> {
    const { clock, intervalMs, name, onError, run } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#isHurried = false;
      this.#beganAtMs = clock.monotonicMs();
      this.#wake = new AbortController();
      try {
        await run(signal);
      } catch (error) {
        onError(name, error);
      }
      if (!this.#isHurried && !signal.aborted) await clock.sleep(intervalMs, this.#wake.signal);
    }
  }
}
