import { ManualClock } from '@berth/testing';
import { beforeEach, expect, test } from '@jest/globals';
import { ForeignAppends } from './foreign-appends.js';

let clock: ManualClock;
let appends: ForeignAppends;
beforeEach(async () => {
  clock = new ManualClock();
  appends = new ForeignAppends(clock);
  appends.looked(3, 10);
  await clock.advance(60_000);
});

const write = (...sequences: readonly number[]): void => {
  for (const sequence of sequences) appends.stored(3, sequence);
};

test('a shard that was taken is looked at once more, and then what this router writes is no news', () => {
  expect(appends.looked(4, 7)).toBe(true);
  write(11, 12);
  expect([appends.looked(3, 12), appends.looked(3, 12), appends.looked(3, 12)]).toEqual([false, false, false]);
});

test('an append that is not answered yet at a look is this router’s at the next', () => {
  expect(appends.looked(3, 12)).toBe(false);
  write(11, 12);
  expect([appends.looked(3, 12), appends.looked(3, 12)]).toEqual([false, false]);
});

test.each([
  ['where nobody else writes', [11], []],
  ['between those of this router', [12], [11, 13]],
])('an append of somebody else is found a look later: %s', (_, foreign, own) => {
  write(...own);
  const last = 10 + foreign.length + own.length;
  expect([appends.looked(3, last), appends.looked(3, last), appends.looked(3, last)]).toEqual([false, true, false]);
});

test('a slow broker is not asked each second', async () => {
  appends.looked(3, 11);
  const told: boolean[] = [];
  for (let last = 12; last < 22; last += 1) {
    told.push(appends.looked(3, last));
    await clock.advance(1_000);
  }
  expect(told.filter(Boolean)).toHaveLength(2);
});

test('a shard of somebody else, and a stream that was made anew, are known anew', () => {
  appends.leave(3);
  write(11);
  expect(appends.looked(3, 11)).toBe(true);
  expect(appends.looked(3, 2)).toBe(true);
});
