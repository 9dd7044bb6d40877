import { expect, test } from '@jest/globals';
import { AskingWatch } from './asking-watch.js';

const LOOK_MS = 500;

function lookedAt(watch: AskingWatch, isAsking: boolean, [fromMs, toMs]: readonly [number, number]): number {
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += LOOK_MS) watch.look(isAsking, nowMs);
  return watch.askedAtMs;
}

test('a worker that stopped asking has done so since it was last seen to ask', () => {
  const watch = new AskingWatch(0);
  expect(lookedAt(watch, true, [500, 10_000])).toBe(10_000);
  expect(lookedAt(watch, false, [10_500, 60_000])).toBe(10_000);
  expect(lookedAt(watch, true, [60_500, 60_500])).toBe(60_500);
});

test('a worker is not blamed for the time in which its agent stood still', () => {
  const watch = new AskingWatch(0);
  lookedAt(watch, true, [500, 10_000]);
  expect(lookedAt(watch, false, [130_000, 130_000])).toBe(130_000);
  lookedAt(watch, false, [130_500, 140_000]);
  expect(watch.resumedAtMs).toBe(130_000);
});
