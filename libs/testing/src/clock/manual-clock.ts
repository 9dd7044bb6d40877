import type { Clock } from '@berth/lifecycle';

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A clock that moves only when the test says so. Sleepers wake in order of their due time. */
export class ManualClock implements Clock {
  #nowMs: number;
  #jumpedMs = 0;
  readonly #sleepers = new Set<Sleeper>();

  constructor(startMs = 1_750_000_000_000) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs + this.#jumpedMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const sleeper: Sleeper = {
        dueMs: this.#nowMs + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', sleeper.wake, { once: true });
    });
  }

  after(ms: number, act: () => void): () => void {
    const sleeper: Sleeper = {
      dueMs: this.#nowMs + ms,
      wake: () => {
        this.#sleepers.delete(sleeper);
        act();
      },
    };
    this.#sleepers.add(sleeper);
    return () => {
      this.#sleepers.delete(sleeper);
    };
  }

  every(ms: number, tick: () => void): () => void {
    const arm = (): Sleeper => ({
      dueMs: this.#nowMs + ms,
      wake: () => {
        this.#sleepers.delete(current);
        current = arm();
        this.#sleepers.add(current);
        tick();
      },
    });
    let current = arm();
    this.#sleepers.add(current);
    return () => {
      this.#sleepers.delete(current);
    };
  }

  /** Number of sleeps and tickers that wait: lets a test see that the code under test has come to rest. */
  get waiting(): number {
    return this.#sleepers.size;
  }

  /** As if somebody set the machine's clock: Unix time jumps, and neither the monotonic clock nor a sleeper notices. */
  jump(ms: number): void {
    this.#jumpedMs += ms;
  }

  /** Moves time forward, waking everything due on the way and letting it run before time moves on. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await letRun();
    for (let next = this.#nextDue(untilMs); next !== null; next = this.#nextDue(untilMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.wake();
      await letRun();
    }
    this.#nowMs = untilMs;
  }

  #nextDue(untilMs: number): Sleeper | null {
    let next: Sleeper | null = null;
    for (const sleeper of this.#sleepers) {
      if (sleeper.dueMs <= untilMs && (next === null || sleeper.dueMs < next.dueMs)) next = sleeper;
    }
    return next;
  }
}

/** One turn of the event loop: every promise that can settle has settled. */
export const letRun = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
