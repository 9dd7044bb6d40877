import { stdout } from 'node:process';
import type { Clock } from '@berth/lifecycle';

/** Tells a waiting person what happens: one line for each step that is over, with its time. */
export class Progress {
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  readonly #write: (text: string) => void;

  constructor(clock: Clock, write: (text: string) => void = (text) => void stdout.write(text)) {
    this.#clock = clock;
    this.#startedAtMs = clock.monotonicMs();
    this.#write = write;
  }

  get elapsedMs(): number {
    return this.#clock.monotonicMs() - this.#startedAtMs;
  }

  /** Runs one step and prints its line, whether it succeeds or not. */
  async step<T>(name: string, action: () => Promise<T>): Promise<T> {
    const startedAtMs = this.#clock.monotonicMs();
    try {
      const result = await action();
      this.line(`✓ ${name.padEnd(NAME_WIDTH)} ${seconds(this.#clock.monotonicMs() - startedAtMs)}`);
      return result;
    } catch (error) {
      this.line(`✗ ${name.padEnd(NAME_WIDTH)} ${seconds(this.#clock.monotonicMs() - startedAtMs)}`);
      throw error;
    }
  }

  line(text: string): void {
    this.#write(`${text}\n`);
  }
}

const NAME_WIDTH = 44;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
