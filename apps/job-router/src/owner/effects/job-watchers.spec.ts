import { WATCH_KEPT_MS } from '@berth/contracts';
import type { EndpointId, JobId } from '@berth/domain';
import { ManualClock } from '@berth/testing';
import { beforeEach, expect, test } from '@jest/globals';
import { JobWatchers } from './job-watchers.js';

const KEY = { endpointId: 'e1' as EndpointId, jobId: 'j1' as JobId };
const keyOf = (endpointId: string, jobId: string) => ({ endpointId: endpointId as EndpointId, jobId: jobId as JobId });

let clock: ManualClock;
let watchers: JobWatchers;
beforeEach(() => {
  clock = new ManualClock();
  watchers = new JobWatchers(clock);
});

test('who wants any news hears everything, who wants the end hears of ends', () => {
  watchers.watch(KEY, { router: 'any', news: 'any' });
  watchers.watch(KEY, { router: 'end', news: 'end' });
  watchers.watch({ ...KEY, jobId: 'j2' as JobId }, { router: 'other', news: 'any' });
  expect(watchers.of(KEY, 'moved')).toEqual(['any']);
  expect(watchers.of(KEY, 'ended')).toEqual(['any', 'end']);
  expect(watchers.of(KEY, 'gone')).toEqual(['any', 'end']);
});

test('a router that waits for both is named once', () => {
  watchers.watch(KEY, { router: 'r', news: 'any' });
  watchers.watch(KEY, { router: 'r', news: 'end' });
  expect(watchers.of(KEY, 'ended')).toEqual(['r']);
  expect(watchers.of(KEY, 'moved')).toEqual(['r']);
});

test('who does not ask again is forgotten, and who does is not', async () => {
  watchers.watch(KEY, { router: 'gone', news: 'any' });
  watchers.watch(KEY, { router: 'there', news: 'any' });
  await clock.advance(WATCH_KEPT_MS - 1);
  watchers.watch(KEY, { router: 'there', news: 'any' });
  await clock.advance(1);
  expect(watchers.of(KEY, 'moved')).toEqual(['there']);
  await clock.advance(WATCH_KEPT_MS);
  expect(watchers.of(KEY, 'moved')).toEqual([]);
  expect(watchers.size).toBe(0);
});

test('one endpoint has its share, and all together have a bound', () => {
  const watch = (endpointId: string, count: number): void => {
    for (let at = 0; at < count; at += 1) watchers.watch(keyOf(endpointId, `j${at}`), { router: 'r', news: 'any' });
  };
  watch('e1', 20_001);
  expect(watchers.size).toBe(20_000);
  expect(watchers.of(keyOf('e1', 'j20000'), 'moved')).toEqual([]);
  for (const endpointId of ['e2', 'e3', 'e4', 'e5', 'e6']) watch(endpointId, 20_000);
  expect(watchers.size).toBe(100_000);
  watchers.forget(keyOf('e1', 'j0'));
  watch('e7', 2);
  expect(watchers.of(keyOf('e7', 'j0'), 'moved')).toEqual(['r']);
  expect(watchers.of(keyOf('e7', 'j1'), 'moved')).toEqual([]);
});
