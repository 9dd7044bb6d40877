import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DueHeap } from './due-heap.js';

interface Item {
  readonly name: number;
  dueAtMs: number;
  index: number;
}

const compare = (a: Item, b: Item): number => a.dueAtMs - b.dueAtMs || a.name - b.name;

const newHeap = (): DueHeap<Item> =>
  new DueHeap<Item>({
    compare,
    dueAtMs: ({ dueAtMs }) => dueAtMs,
    indexOf: ({ index }) => index,
    setIndex: (item, index) => {
      item.index = index;
    },
  });

const steps = fc.array(
  fc.record({ does: fc.constantFrom('put', 'put', 'remove'), name: fc.nat(40), dueAtMs: fc.nat(60) }),
  { maxLength: 200 },
);

test('whatever comes, moves and leaves: what is due is what a scan finds, in its order', () => {
  fc.assert(
    fc.property(steps, fc.nat(60), fc.nat(12), (story, nowMs, limit) => {
      const heap = newHeap();
      const all = new Map<number, Item>();
      for (const { does, dueAtMs, name } of story) {
        const item = all.get(name) ?? { name, dueAtMs, index: -1 };
        if (does === 'put') {
          item.dueAtMs = dueAtMs;
          all.set(name, item);
          heap.put(item);
        } else {
          all.delete(name);
          heap.remove(item);
        }
        const inOrder = [...all.values()].toSorted(compare);
        expect([heap.size, heap.first]).toEqual([all.size, inOrder[0]]);
        expect(heap.nextAtMs).toBe(inOrder[0]?.dueAtMs ?? Number.POSITIVE_INFINITY);
        expect(inOrder.every((each) => heap.has(each))).toBe(true);
      }
      const scanned = [...all.values()].filter((item) => item.dueAtMs <= nowMs).toSorted(compare);
      expect(heap.due(nowMs, limit)).toEqual(scanned.slice(0, limit));
    }),
  );
});

test('what was removed is in no heap any more, and removing it again is success', () => {
  const heap = newHeap();
  const item = { name: 1, dueAtMs: 5, index: -1 };
  heap.put(item);
  heap.remove(item);
  heap.remove(item);
  expect([heap.size, heap.has(item), heap.due(10, 10)]).toEqual([0, false, []]);
});
