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

describe('the share of an account', () => {
  test('is half while nobody else has anything', () => {
    const budget = new BodyBudget(100);
    const [first, second] = [budget.hold('a'), budget.hold('a')];
    first.grow(20);
    second.grow(30);
    expect(() => {
      second.grow(1);
    }).toThrow(/of this account/);
  });

  test('is a quarter once all have half: whoever fills it leaves the rest to others', () => {
    const budget = new BodyBudget(100);
    const [first, second, other] = [budget.hold('a'), budget.hold('a'), budget.hold('b')];
    other.grow(25);
    first.grow(20);
    expect(() => {
      second.grow(6);
    }).toThrow(/of this account/);
    second.grow(5);
    expect(budget.takenBytes).toBe(50);
    first.release();
    second.grow(20);
  });

  test('that is full is told before anything comes of a body with an announced size', () => {
    const budget = new BodyBudget(100);
    budget.hold('a').grow(40);
    const [next, others] = [budget.hold('a'), budget.hold('b')];
    next.requireRoomFor(10);
    expect(() => {
      next.requireRoomFor(11);
    }).toThrow(/of this account/);
    others.requireRoomFor(60);
    expect(() => {
      others.requireRoomFor(61);
    }).toThrow(/Too many large bodies are under way/);
    expect(budget.takenBytes).toBe(40);
  });

  test('is taken as bytes come, and given back whole', () => {
    const budget = new BodyBudget(100);
    const hold = budget.hold('a');
    for (let n = 0; n < 10; n += 1) hold.grow(1);
    expect(budget.takenBytes).toBe(10);
    hold.release();
    hold.release();
    hold.grow(50);
    expect(budget.takenBytes).toBe(0);
  });

  test('does not keep one body of an account from coming that is larger than it', () => {
    const hold = new BodyBudget(100).hold('a');
    hold.grow(60);
    hold.grow(30);
  });
});
