import { ManualClock } from '@berth/testing';
import { expect, test } from '@jest/globals';
import type { Clock } from './clock.js';
import { SteadyInstant } from './steady-instant.js';

test.each([3_600_000, -3_600_000, 1_000])(
  'an instant stays as long ago when the clock is set by %s ms',
  async (byMs) => {
    const clock = new ManualClock();
    const instant = new SteadyInstant(clock);
    const told = instant.unixMs;
    await clock.advance(7_000);
    expect(instant.unixMs).toBe(told);
    clock.jump(byMs);
    expect(clock.nowMs() - instant.unixMs).toBe(7_000);
    await clock.advance(1_000);
    expect(instant.unixMs).toBe(told + byMs);
  },
);

test('an instant is told the same although two clocks are never read at once', () => {
  const readings = { now: [1_000, 2_001, 3_000, 4_000], monotonic: [5.2, 1_005.9, 2_005.1, 3_105] };
  const clock: Pick<Clock, 'nowMs' | 'monotonicMs'> = {
    nowMs: () => readings.now.shift() ?? 0,
    monotonicMs: () => readings.monotonic.shift() ?? 0,
  };
  const instant = new SteadyInstant(clock as Clock);
  expect([instant.unixMs, instant.unixMs, instant.unixMs]).toEqual([1_000, 1_000, 1_000]);
});
