import { describe, expect, test } from '@jest/globals';
import type { Clock } from './clock.js';
import { retry, type RetryOptions } from './retry.js';

/** Sleeps take no time; their lengths are kept. */
function options(more: Partial<RetryOptions> = {}): RetryOptions & { readonly slept: number[] } {
  const slept: number[] = [];
  const clock: Clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    sleep: (ms) => Promise.resolve(void slept.push(ms)),
    after: () => () => undefined,
    every: () => () => undefined,
  };
  const random = { uuid: () => '', id: () => '', fraction: () => 0.5 };
  const plain = { attemptsMax: 4, baseDelayMs: 100, maxDelayMs: 250, isRetriable: () => true };
  return { clock, random, ...plain, ...more, slept };
}

const failing = (times: number) => (attempt: number) =>
  attempt <= times ? Promise.reject(new Error(`attempt ${attempt}`)) : Promise.resolve(attempt);

describe('retry', () => {
  test('returns the first success, with doubling delays up to the longest', async () => {
    const given = options();
    expect(await retry(failing(3), given)).toBe(4);
    expect(given.slept).toEqual([100, 200, 250]);
  });

  test('throws the last error when its attempts are used up', async () => {
    await expect(retry(failing(9), options())).rejects.toThrow('attempt 4');
  });

  test('does not repeat what will not get better', async () => {
    await expect(retry(failing(9), options({ isRetriable: () => false }))).rejects.toThrow('attempt 1');
  });

  test('stops when it is told to', async () => {
    await expect(retry(failing(9), options({ signal: AbortSignal.abort() }))).rejects.toThrow('attempt 1');
  });

  test('spreads its delays by a fifth to both sides', async () => {
    const least = options({ random: { uuid: () => '', id: () => '', fraction: () => 0 } });
    await retry(failing(1), least);
    expect(least.slept).toEqual([80]);
  });
});
