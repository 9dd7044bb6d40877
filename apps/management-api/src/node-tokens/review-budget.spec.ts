import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '@berth/testing';
import { ReviewBudget } from './review-budget.js';

const MINUTE_MS = 60_000;

const taken = (budget: ReviewBudget, addresses: readonly string[]): number =>
  addresses.filter((address) => budget.take(address)).length;

describe('reviews of a minute', () => {
  test('are a quarter for one address, and the number for all of them together', () => {
    const budget = new ReviewBudget({ perMinute: 8, clock: new ManualClock() });
    expect(taken(budget, Array<string>(5).fill('10.0.0.1'))).toBe(2);
    expect(taken(budget, ['2', '3', '4', '5', '6', '7', '8', '9'])).toBe(6);
  });

  test('come back with the next minute, for who had none left too', async () => {
    const clock = new ManualClock();
    const budget = new ReviewBudget({ perMinute: 4, clock });
    expect(taken(budget, ['1', '1'])).toBe(1);
    await clock.advance(MINUTE_MS);
    expect(taken(budget, ['1', '1'])).toBe(1);
  });
});
