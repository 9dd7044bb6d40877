import type { JobId } from '@berth/domain';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { QueueOrder, type QueuePlace } from './queue-order.js';

const placeOf = (queuedAtMs: number, id: number): QueuePlace => ({ queuedAtMs, jobId: `j${id}` as JobId });

const sorted = (places: Iterable<QueuePlace>): readonly QueuePlace[] =>
  [...places].sort((a, b) => a.queuedAtMs - b.queuedAtMs || (a.jobId < b.jobId ? -1 : Number(a.jobId > b.jobId)));

const isSame = (a: QueuePlace, b: QueuePlace): boolean => a.queuedAtMs === b.queuedAtMs && a.jobId === b.jobId;

const place = fc.record({ queuedAtMs: fc.nat(40), id: fc.nat(9) }).map(({ queuedAtMs, id }) => placeOf(queuedAtMs, id));
const steps = fc.array(fc.record({ kind: fc.constantFrom('add', 'add', 'remove'), place }), { maxLength: 300 });

test('whatever comes and goes, every position is what a sort says', () => {
  fc.assert(
    fc.property(steps, place, (story, asked) => {
      const order = new QueueOrder();
      const model = new Map<string, QueuePlace>();
      for (const { kind, place: each } of story) {
        const key = `${each.queuedAtMs} ${each.jobId}`;
        if (kind === 'add') model.set(key, each);
        else model.delete(key);
        if (kind === 'add') order.add(each);
        else order.remove(each);
      }
      const expected = sorted(model.values());
      expect(order.size).toBe(expected.length);
      expect(order.first).toEqual(expected[0]);
      expect(expected.map((each) => order.before(each))).toEqual(expected.map((_, index) => index));
      const withAsked = sorted([...expected.filter((each) => !isSame(each, asked)), asked]);
      expect(order.before(asked)).toBe(withAsked.indexOf(asked));
    }),
  );
});

/** Numbers of a fixed sequence without repeats below a prime: 1, 3, 9, 27 … modulo it. */
function* shuffled(prime: number): Generator<number> {
  for (let n = 1, value = 1; n < prime; n += 1, value = (value * 3) % prime) yield value;
}

test('also where it has many runs, filled in any order and emptied from the front and in between', () => {
  const PRIME = 19_997;
  const order = new QueueOrder();
  const there = new Set<number>();
  for (const id of shuffled(PRIME)) {
    order.add(placeOf(id, id));
    there.add(id);
  }
  const takeOut = (id: number): void => {
    order.remove(placeOf(id, id));
    there.delete(id);
  };
  for (let id = 1; id <= 5_000; id += 1) takeOut(id);
  for (let id = 5_001; id < PRIME; id += 3) takeOut(id);
  const expected = [...there].sort((a, b) => a - b);
  expect(order.size).toBe(expected.length);
  expect(expected.map((id) => order.before(placeOf(id, id)))).toEqual(expected.map((_, index) => index));
  expect(order.first).toEqual(placeOf(5_002, 5_002));
});

test('in the order of coming and going', () => {
  const order = new QueueOrder();
  for (let id = 0; id < 10_000; id += 1) order.add(placeOf(Math.floor(id / 3), id));
  for (let id = 0; id < 10_000; id += 1) {
    const first = order.first;
    expect(first?.queuedAtMs).toBe(Math.floor(id / 3));
    if (first !== undefined) order.remove(first);
  }
  expect([order.size, order.first]).toEqual([0, undefined]);
});
