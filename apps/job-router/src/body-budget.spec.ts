import { describe, expect, test } from '@jest/globals';
import { BodyBudget } from './body-budget.js';

describe('the budget for bodies', () => {
  test('takes what fits, refuses what does not, and takes it when there is room again', () => {
    const budget = new BodyBudget(100);
    const release = budget.take(60);
    expect(() => budget.take(41)).toThrow(/try again/);
    budget.take(40);
    release();
    expect(budget.takenBytes).toBe(40);
    budget.take(60);
  });

  test('gives room back once, however often it is asked to', () => {
    const budget = new BodyBudget(100);
    const release = budget.take(10);
    budget.take(20);
    release();
    release();
    expect(budget.takenBytes).toBe(20);
  });

  test('never refuses a body that comes alone', () => {
    expect(() => new BodyBudget(10).take(1_000)).not.toThrow();
  });
});
