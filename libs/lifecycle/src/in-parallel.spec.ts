import { expect, test } from '@jest/globals';
import { inParallel } from './in-parallel.js';

const ITEMS = [0, 1, 2, 3, 4, 5, 6];

test('the results come in the order of the items, however long each takes', async () => {
  const waiting: (() => void)[] = [];
  const results = inParallel(ITEMS, ITEMS.length, async (item) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return item * 2;
  });
  for (const resolve of waiting.reverse()) resolve();
  expect(await results).toEqual([0, 2, 4, 6, 8, 10, 12]);
});

test('never more than the limit are under way', async () => {
  let [underWay, most] = [0, 0];
  await inParallel(ITEMS, 3, async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await Promise.resolve();
    underWay -= 1;
  });
  expect(most).toBe(3);
});

test('after a failure none is started any more, and it is thrown', async () => {
  const started: number[] = [];
  const failing = inParallel(ITEMS, 2, async (item) => {
    started.push(item);
    await Promise.resolve();
    if (item === 1) throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(started.length).toBeLessThan(ITEMS.length);
});

test('nothing to do is done', async () => {
  expect(await inParallel([], 4, async () => 1)).toEqual([]);
});
