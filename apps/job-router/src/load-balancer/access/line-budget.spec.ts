import { expect, test } from '@jest/globals';
import { LineBudget } from './line-budget.js';

const taken = (budget: LineBudget, names: readonly string[], nowMs: number): number =>
  names.filter((name) => budget.take(name, nowMs)).length;

test('one name does not take the lines of others, and gets more with time', () => {
  const budget = new LineBudget();
  expect(taken(budget, Array<string>(1_000).fill('loud'), 0)).toBe(20);
  expect(budget.take('quiet', 0)).toBe(true);
  expect(taken(budget, Array<string>(1_000).fill('loud'), 5_000)).toBe(10);
});

test('all names together have a bound, however many there are', () => {
  const names = Array.from({ length: 5_000 }, (_, at) => `n${at}`);
  const budget = new LineBudget();
  expect(taken(budget, names, 0)).toBe(200);
  expect(taken(budget, names, 1_000)).toBe(20);
});
