import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { countRequest, windowStartMs, windowState, type Window, type WindowLimit } from './windows.js';

const limit = (name: string, secondsMax: number): fc.Arbitrary<WindowLimit> =>
  fc.record({
    name: fc.constant(name),
    quota: fc.integer({ min: 1, max: 8 }),
    seconds: fc.integer({ min: 1, max: secondsMax }),
  });
const limits = fc.tuple(limit('minute', 5), limit('hour', 30));
/** Pauses between requests, and sometimes a clock that jumps back. */
const walk = fc.array(
  fc.oneof({ weight: 9, arbitrary: fc.nat(3_000) }, { weight: 1, arbitrary: fc.integer({ min: -9_000, max: 0 }) }),
  {
    maxLength: 200,
  },
);

/** Every request of the walk, with the windows as they are after it. */
function follow(both: readonly WindowLimit[], steps: readonly number[]) {
  let nowMs = 1_000_000;
  let windows: readonly Window[] = both.map((each) => ({ limit: each, use: { startedAtMs: 0, used: 0 } }));
  return steps.map((step) => {
    nowMs += step;
    const { isAdmitted, uses } = countRequest(windows, nowMs);
    windows = windows.map((window, index) => ({ ...window, use: uses[index] ?? window.use }));
    return { nowMs, isAdmitted, windows };
  });
}

test('no window ever admits more than its quota', () => {
  fc.assert(
    fc.property(limits, walk, (both, steps) => {
      const admitted = follow(both, steps.map(Math.abs)).filter(({ isAdmitted }) => isAdmitted);
      for (const each of both) {
        const perWindow = new Map<number, number>();
        for (const { nowMs } of admitted) {
          const start = windowStartMs(each, nowMs);
          perWindow.set(start, (perWindow.get(start) ?? 0) + 1);
        }
        expect(Math.max(0, ...perWindow.values())).toBeLessThanOrEqual(each.quota);
      }
    }),
  );
});

test('a window with room refuses nobody, and a refused request costs nothing', () => {
  fc.assert(
    fc.property(limits, walk, (both, steps) => {
      for (const { isAdmitted, nowMs, windows } of follow(both, steps)) {
        const hasRoom = windows.every((window) => windowState(window, nowMs).remaining > 0);
        const { isAdmitted: isNextAdmitted, uses } = countRequest(windows, nowMs);
        expect(isNextAdmitted).toBe(hasRoom);
        if (!isAdmitted) expect(isNextAdmitted).toBe(false);
        if (!isNextAdmitted) expect(uses).toEqual(windows.map(({ use }) => use));
      }
    }),
  );
});

test('what callers are told stays in its bounds, wherever the clock goes', () => {
  fc.assert(
    fc.property(limits, walk, (both, steps) => {
      for (const { nowMs, windows } of follow(both, steps)) {
        for (const window of windows) {
          const { quota, remaining, resetSeconds, seconds } = windowState(window, nowMs);
          expect(remaining).toBeGreaterThanOrEqual(0);
          expect(remaining).toBeLessThanOrEqual(quota);
          expect(resetSeconds).toBeGreaterThanOrEqual(1);
          expect(resetSeconds).toBeLessThanOrEqual(seconds);
        }
      }
    }),
  );
});
