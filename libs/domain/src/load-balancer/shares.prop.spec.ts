import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Shares } from './shares.js';

const MAX = 1_000;

test('however greedy some are, all is within the bound, and one who has nothing finds room as long as there are few', () => {
  const steps = fc.array(fc.record({ sharer: fc.nat(3), amount: fc.integer({ min: -50, max: 50 }) }), {
    maxLength: 300,
  });
  fc.assert(
    fc.property(steps, (walk) => {
      const shares = new Shares<number>(MAX);
      const had = [0, 0, 0, 0];
      for (const { amount, sharer } of walk) {
        const has = had[sharer] ?? 0;
        const change = Math.max(amount, -has);
        if (change > 0 && !shares.hasRoomFor(sharer, change)) continue;
        shares.add(sharer, change);
        had[sharer] = has + change;
        expect(shares.sum).toBe(had.reduce((sum, each) => sum + each, 0));
        expect(shares.sum).toBeLessThanOrEqual(MAX);
      }
      // Four of them leave a third of a third of a third of a third, less what each rounds.
      expect(shares.hasRoomFor(9, 8)).toBe(true);
    }),
  );
});

test('one alone has two thirds, and the next one two thirds of the rest', () => {
  const shares = new Shares<string>(MAX);
  const most = (sharer: string): number => {
    let got = 0;
    for (; shares.hasRoomFor(sharer, 1); got += 1) shares.add(sharer, 1);
    return got;
  };
  expect([most('a'), most('b'), most('a')]).toEqual([666, 222, 0]);
  shares.add('b', -222);
  expect([most('a'), shares.sum]).toEqual([0, 666]);
});
