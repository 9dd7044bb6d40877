import { describe, expect, test } from '@jest/globals';
import { decideAdmission, effectiveLimit } from './decide-admission.js';
import { JOB_OPERATIONS } from './job-operations.js';
import { SlidingCount } from './sliding-count.js';

test('the limits are the published ones', () => {
  expect(JOB_OPERATIONS).toEqual({
    runsync: { rate: 2_000, concurrent: 400 },
    run: { rate: 1_000, concurrent: 200 },
    status: { rate: 2_000, concurrent: 400 },
    stream: { rate: 2_000, concurrent: 400 },
    cancel: { rate: 100, concurrent: 20 },
    'purge-queue': { rate: 2, concurrent: null },
    openai: { rate: 2_000, concurrent: 400 },
    requests: { rate: 10, concurrent: 2 },
  });
});

describe('the limit that counts', () => {
  test.each([
    ['no worker', 0, { rate: 2_000, concurrent: 400 }],
    ['as many as the base allows for', 40, { rate: 2_000, concurrent: 400 }],
    ['one more', 41, { rate: 2_050, concurrent: 410 }],
    ['fifty', 50, { rate: 2_500, concurrent: 500 }],
  ])('%s', (_what, ready, expected) => {
    expect(effectiveLimit(JOB_OPERATIONS.runsync, { ready, requestsPerWorker: 50 })).toEqual(expected);
  });

  test('an operation without a limit in flight gets none', () => {
    expect(effectiveLimit(JOB_OPERATIONS['purge-queue'], { ready: 1, requestsPerWorker: 50 })).toEqual({
      rate: 50,
      concurrent: null,
    });
  });
});

describe('a verdict', () => {
  const limit = { rate: 3, concurrent: 2 };

  test('names the rate, and when the oldest request leaves the window', () => {
    const window = new SlidingCount();
    for (const nowMs of [0, 4_000, 4_050]) window.add(1, nowMs);
    const ask = (nowMs: number, count = 1) => decideAdmission({ window, inFlight: 0 }, limit, { count, nowMs });
    expect(ask(5_000)).toEqual({ kind: 'refused', by: 'rate', limit: 3, retryAfterMs: 5_100 });
    expect(ask(5_000, 3)).toEqual({ kind: 'refused', by: 'rate', limit: 3, retryAfterMs: 9_100 });
    expect(ask(10_100)).toEqual({ kind: 'admitted' });
  });

  test('names what is in flight', () => {
    const window = new SlidingCount();
    const ask = (inFlight: number) => decideAdmission({ window, inFlight }, limit, { count: 1, nowMs: 0 });
    expect(ask(1)).toEqual({ kind: 'admitted' });
    expect(ask(2)).toEqual({ kind: 'refused', by: 'concurrency', limit: 2, retryAfterMs: 1_000 });
  });
});

test('time that stands still or starts late changes nothing', () => {
  const window = new SlidingCount();
  window.add(1, 1e12);
  window.add(1, 1e12);
  expect(window.sum(1e12 + 9_999)).toBe(2);
  expect(window.sum(1e12 + 10_100)).toBe(0);
});
