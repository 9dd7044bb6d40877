import { expect, test } from '@jest/globals';
import { HTTP_DRAIN_MS, moreToStopMs } from './drain-times.js';

test.each([
  ['as usual', { drainDelayMs: 2_000 }, 0],
  ['less where nobody has to notice', { drainDelayMs: 0 }, -2_000],
  ['more by what a load balancer needs to notice', { drainDelayMs: 15_000 }, 13_000],
  ['and by what requests may take', { drainDelayMs: 15_000, drainMs: HTTP_DRAIN_MS + 50_000 }, 63_000],
])('the rest of a stop has the same time whatever requests have: %s', (_name, times, moreMs) => {
  expect(moreToStopMs(times)).toBe(moreMs);
});
