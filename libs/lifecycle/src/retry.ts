import type { Clock } from './clock.js';
import type { Random } from './random.js';

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Number of calls in all. */
  readonly attemptsMax: number;
  /** Delay after the first failure; it doubles each time, with ± 20 % jitter. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  readonly isRetriable: (error: unknown) => boolean;
  readonly signal?: AbortSignal;
}

const JITTER = 0.2;

/** Calls `action` until it succeeds, fails for good, the attempts are used up or `signal` aborts; then throws the last error. */
export async function retry<T>(action: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const isAborted = (): boolean => options.signal?.aborted === true;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action(attempt);
    } catch (error) {
      const isOver = attempt >= options.attemptsMax || isAborted();
      if (isOver || !options.isRetriable(error)) throw error;
      const plainMs = Math.min(options.maxDelayMs, options.baseDelayMs * 2 ** (attempt - 1));
      const jitter = 1 - JITTER + 2 * JITTER * options.random.fraction();
      await options.clock.sleep(plainMs * jitter, options.signal);
      if (isAborted()) throw error;
    }
  }
}
