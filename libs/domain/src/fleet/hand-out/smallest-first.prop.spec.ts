import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SmallestFirst } from './smallest-first.js';

test('what was put in comes out in order, whenever some of it is taken meanwhile', () => {
  const steps = fc.array(fc.option(fc.integer(), { freq: 3 }), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (given) => {
      const heap = new SmallestFirst<number>((a, b) => a - b);
      const model: number[] = [];
      for (const step of given) {
        if (step === null) {
          expect(heap.peek()).toBe(model[0] ?? null);
          expect(heap.take()).toBe(model.shift() ?? null);
        } else {
          heap.put(step);
          model.push(step);
          model.sort((a, b) => a - b);
        }
      }
      while (model.length > 0) expect(heap.take()).toBe(model.shift());
      expect(heap.take()).toBeNull();
    }),
  );
});
