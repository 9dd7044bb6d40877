import type { Clock } from '@berth/lifecycle';
import type { Logger } from '../logging/logger.js';

interface Step {
  readonly name: string;
  readonly stop: () => Promise<void> | void;
}

/** The steps that undo things when the process ends. The part that was started last is stopped first. */
export class Shutdown {
  readonly #clock: Clock;
  #limitMs: number;
  readonly #steps: Step[] = [];

  /** @param limitMs for all steps together */
  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  allowMore(ms: number): void {
    this.#limitMs += ms;
  }

  add(name: string, stop: Step['stop']): void {
    this.#steps.push({ name, stop });
  }

  /** @returns whether every step ended well and in time. A step that fails or hangs does not keep the others from running. */
  async run(logger: Logger): Promise<boolean> {
    const deadlineMs = this.#clock.monotonicMs() + this.#limitMs;
    let isClean = true;
    for (const step of this.#steps.splice(0).reverse()) {
      const problem = await this.#runStep(step, deadlineMs);
      if (problem === null) continue;
      isClean = false;
      logger.warn(`${step.name} did not stop cleanly`, { error: problem });
    }
    return isClean;
  }

  async #runStep({ stop }: Step, deadlineMs: number): Promise<Error | null> {
    const timer = new AbortController();
    const leftMs = Math.max(0, deadlineMs - this.#clock.monotonicMs());
    const late = this.#clock
      .sleep(leftMs, timer.signal)
      .then(() => new Error(`not done when the ${this.#limitMs} ms for stopping were over`));
    try {
      return await Promise.race([Promise.resolve(stop()).then(() => null), late]);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      timer.abort();
    }
  }
}
