import { expect, test } from '@jest/globals';
import { ManualClock } from '@berth/testing';
import { watchStarter } from '../src/watch-starter.js';

test('an orphan hears once that its starter is gone, and not before', async () => {
  const clock = new ManualClock();
  let parent = 7;
  let gone = 0;
  watchStarter({ clock, starterPid: 7, parentPid: () => parent, onGone: () => (gone += 1) });
  await clock.advance(10_000);
  expect(gone).toBe(0);
  parent = 1;
  await clock.advance(10_000);
  expect(gone).toBe(1);
});

test('an orphan whose starter had gone before it watched hears of it all the same', async () => {
  const clock = new ManualClock();
  let gone = 0;
  watchStarter({ clock, starterPid: 7, parentPid: () => 1, onGone: () => (gone += 1) });
  await clock.advance(10_000);
  expect(gone).toBe(1);
});
