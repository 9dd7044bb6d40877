import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { retryDelayMs } from './retry-schedule.js';

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('the delay is 1 s × 2^(n-1), ± 20 %, at most 30 s', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), chance, (charged, fraction) => {
      const nominalMs = 1_000 * 2 ** (charged - 1);
      const delayMs = retryDelayMs(charged, fraction);
      expect(Number.isInteger(delayMs)).toBe(true);
      expect(delayMs).toBeGreaterThanOrEqual(Math.min(30_000, 0.8 * nominalMs));
      expect(delayMs).toBeLessThanOrEqual(Math.min(30_000, 1.2 * nominalMs));
    }),
  );
});

test('whoever has lost nothing does not wait', () => {
  fc.assert(
    fc.property(fc.integer({ min: -5, max: 0 }), chance, (charged, fraction) => {
      expect(retryDelayMs(charged, fraction)).toBe(0);
    }),
  );
});

test('chance decides within the bounds', () => {
  expect([0, 0.5, 0.999].map((fraction) => retryDelayMs(1, fraction))).toEqual([800, 1_000, 1_200]);
  expect([1, 2, 3, 4, 5, 6].map((charged) => retryDelayMs(charged, 0.5))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000,
  ]);
});
