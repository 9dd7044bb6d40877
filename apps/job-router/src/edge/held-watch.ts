import { WAIT_OVER, type Clock } from '@berth/lifecycle';
import type { JobNews, JobWatch } from './jobs.port.js';

export interface HeldWatchOptions {
  readonly clock: Clock;
  readonly news: JobNews;
  readonly onDispose: () => void;
}

/** One caller that waits for news of one job. One `wait` at a time. */
export class HeldWatch implements JobWatch {
  readonly news: JobNews;
  readonly #options: HeldWatchOptions;
  readonly #disposed = new AbortController();
  #hasRung = false;
  #wake: AbortController | undefined;

  constructor(options: HeldWatchOptions) {
    this.news = options.news;
    this.#options = options;
  }

  /** Aborts when the last caller has stopped waiting. */
  get disposed(): AbortSignal {
    return this.#disposed.signal;
  }

  async wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (!this.#hasRung && !this.disposed.aborted) {
      this.#wake = new AbortController();
      const { signal: woken } = this.#wake;
      await this.#options.clock.sleep(timeoutMs, signal === undefined ? woken : AbortSignal.any([woken, signal]));
      this.#wake = undefined;
    }
    const hasRung = this.#hasRung;
    this.#hasRung = false;
    return hasRung;
  }

  dispose(): void {
    if (this.disposed.aborted) return;
    this.#disposed.abort(WAIT_OVER);
    this.#wake?.abort(WAIT_OVER);
    this.#options.onDispose();
  }

  ring(): void {
    this.#hasRung = true;
    this.#wake?.abort(WAIT_OVER);
  }
}
