import { ManualClock } from '@berth/testing';
import { beforeEach, expect, test } from '@jest/globals';
import { Alarm } from './alarm.js';

let clock: ManualClock;
let rings: number[];
let alarm: Alarm;

beforeEach(() => {
  clock = new ManualClock();
  rings = [];
  alarm = new Alarm(clock, () => rings.push(clock.nowMs()));
});

test('rings once, at its instant', async () => {
  const atMs = clock.nowMs() + 730;
  alarm.set(atMs);
  await clock.advance(5_000);
  expect(rings).toEqual([atMs]);
});

test('rings at once for an instant that is past', async () => {
  alarm.set(clock.nowMs() - 1);
  await clock.advance(0);
  expect(rings).toHaveLength(1);
});

test('rings for the last instant only, and never for none', async () => {
  const atMs = clock.nowMs() + 900;
  alarm.set(clock.nowMs() + 100);
  alarm.set(atMs);
  await clock.advance(1_000);
  expect(rings).toEqual([atMs]);
  alarm.set(clock.nowMs() + 100);
  alarm.set(null);
  await clock.advance(1_000);
  expect(rings).toHaveLength(1);
  expect(clock.waiting).toBe(0);
});
