import { ManualClock } from '@berth/testing';
import { beforeEach, expect, test } from '@jest/globals';
import { ResettableTimer } from './resettable-timer.js';

let clock: ManualClock;
let rings: number[];
let timer: ResettableTimer;

beforeEach(() => {
  clock = new ManualClock();
  rings = [];
  timer = new ResettableTimer(clock, () => rings.push(clock.nowMs()));
});

test('rings once, at its instant', async () => {
  const atMs = clock.nowMs() + 730;
  timer.set(atMs);
  await clock.advance(5_000);
  expect(rings).toEqual([atMs]);
});

test('rings at once for an instant that is past', async () => {
  timer.set(clock.nowMs() - 1);
  await clock.advance(0);
  expect(rings).toHaveLength(1);
});

test('rings for the last instant only, and never for none', async () => {
  const atMs = clock.nowMs() + 900;
  timer.set(clock.nowMs() + 100);
  timer.set(atMs);
  await clock.advance(1_000);
  expect(rings).toEqual([atMs]);
  timer.set(clock.nowMs() + 100);
  timer.set(null);
  await clock.advance(1_000);
  expect(rings).toHaveLength(1);
  expect(clock.waiting).toBe(0);
});
