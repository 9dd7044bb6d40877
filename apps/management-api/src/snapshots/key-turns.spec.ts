import { describe, expect, test } from '@jest/globals';
import { KeyedCoalescer } from './keyed-coalescer.js';

/** Turns that end when they are told to. */
class Bench {
  readonly begun: (readonly number[])[] = [];
  readonly #ends: PromiseWithResolvers<void>[] = [];
  readonly turns = new KeyedCoalescer<number>((items) => {
    this.begun.push(items);
    const end = Promise.withResolvers<void>();
    this.#ends.push(end);
    return end.promise;
  });

  end(turn: number): void {
    this.#ends[turn]?.resolve();
  }

  fail(turn: number): void {
    this.#ends[turn]?.reject(new Error('failed'));
  }
}

describe('turns of a key', () => {
  test('what comes during one is the next, together', async () => {
    const bench = new Bench();
    const first = bench.turns.take('a', [1]);
    const others = [bench.turns.take('a', [2]), bench.turns.take('a', [3, 4])];
    expect(bench.begun).toEqual([[1]]);
    bench.end(0);
    await first;
    await Promise.resolve();
    expect(bench.begun).toEqual([[1], [2, 3, 4]]);
    bench.end(1);
    await Promise.all(others);
    void bench.turns.take('a', [5]);
    expect(bench.begun).toHaveLength(3);
  });

  test('another key waits for none', () => {
    const bench = new Bench();
    void bench.turns.take('a', [1]);
    void bench.turns.take('b', [2]);
    expect(bench.begun).toEqual([[1], [2]]);
  });

  test('one that failed fails those that took part in it, and no other', async () => {
    const bench = new Bench();
    const first = bench.turns.take('a', [1]);
    const second = bench.turns.take('a', [2]);
    bench.fail(0);
    await expect(first).rejects.toThrow('failed');
    await Promise.resolve();
    bench.end(1);
    await expect(second).resolves.toBeUndefined();
  });
});
