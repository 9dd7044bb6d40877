import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RankedOrder } from './ranked-order.js';

const compare = (a: number, b: number): number => a - b;

const steps = fc.array(fc.record({ isAdded: fc.boolean(), key: fc.nat(80) }), { maxLength: 150 });

/** Longer than three runs. */
const MANY = 4_000;

test('rank and place are what sorting says', () => {
  fc.assert(
    fc.property(steps, fc.boolean(), (story, isLarge) => {
      const order = new RankedOrder<number, number>(compare);
      const known = new Set<number>();
      // Every other number, so that what the story adds falls between.
      for (let key = 1; isLarge && key < 2 * MANY; key += 2) {
        order.add(key);
        known.add(key);
      }
      for (const { isAdded, key } of story) {
        const at = isLarge ? key * 97 : key;
        if (isAdded) {
          order.add(at);
          known.add(at);
        } else {
          order.remove(at);
          known.delete(at);
        }
      }
      const sorted = [...known].toSorted(compare);
      expect([...order.forwards()]).toEqual(sorted);
      expect([...order.backwards(null)]).toEqual(sorted.toReversed());
      expect([order.size, order.first]).toEqual([sorted.length, sorted[0]]);
      for (const key of [0, 41, 1_024, 5_000, 9_999]) {
        expect(order.before(key)).toBe(sorted.filter((each) => each < key).length);
      }
      expect([...order.backwards(41)]).toEqual(sorted.filter((each) => each < 41).toReversed());
    }),
    { numRuns: 60 },
  );
});
