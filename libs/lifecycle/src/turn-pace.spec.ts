import { expect, test } from '@jest/globals';
import { letRun } from '@berth/testing';
import { TurnPace } from './turn-pace.js';

test('a turn of the event loop has its fill, of all callers together, and the next one is empty', async () => {
  const pace = new TurnPace({ amountMax: 10, resumedMax: 4 });
  expect(pace.isFullWith(9)).toBe(false);
  expect(pace.isFullWith(1)).toBe(true);
  await letRun();
  expect(pace.isFullWith(1)).toBe(false);
});

test('those that wait go on in later turns, a few in each and in their order', async () => {
  const pace = new TurnPace({ amountMax: 10, resumedMax: 4 });
  const wentOn: number[] = [];
  for (let caller = 0; caller < 20; caller += 1) pace.nextTurn(() => wentOn.push(caller));
  const perTurn: number[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    const before = wentOn.length;
    await letRun();
    perTurn.push(wentOn.length - before);
  }
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(4);
  expect(wentOn).toEqual(Array.from({ length: 20 }, (_, caller) => caller));
});
