import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EndpointId } from '../ids.js';
import type { Demand } from '../scaling/index.js';
import { BUSIER_BY, SERIES_MAX, chooseSeries } from './choose-series.js';
import { OTHER_ENDPOINTS, readQueues } from './queue-series.js';

const ids = Array.from({ length: 12 }, (_, index) => `e${String(index)}` as EndpointId);
const weights = fc
  .subarray(ids)
  .chain((some) =>
    fc
      .array(fc.nat(20), { minLength: some.length, maxLength: some.length })
      .map((each) => new Map(some.map((id, index) => [id, each[index] ?? 0]))),
  );
const members = fc.subarray(ids, { maxLength: 4 }).map((some) => new Set(some));
const MAX = 4;

test('at most so many, all of them there, each once', () => {
  fc.assert(
    fc.property(members, weights, (before, busy) => {
      const chosen = chooseSeries(before, busy, MAX);
      expect(chosen.length).toBeLessThanOrEqual(MAX);
      expect(new Set(chosen).size).toBe(chosen.length);
      for (const id of chosen) expect(busy.has(id)).toBe(true);
    }),
  );
});

test('who has a series loses it only to others that are clearly busier, or when it is gone', () => {
  fc.assert(
    fc.property(members, weights, (before, busy) => {
      const chosen = chooseSeries(before, busy, MAX);
      for (const id of before) {
        const weight = busy.get(id);
        if (weight === undefined || chosen.includes(id)) continue;
        expect(chosen).toHaveLength(MAX);
        for (const other of chosen.filter((each) => !before.has(each))) {
          expect(busy.get(other)).toBeGreaterThan(weight * BUSIER_BY);
        }
      }
    }),
  );
});

test('nobody is left out who is clearly busier than somebody chosen', () => {
  fc.assert(
    fc.property(members, weights, (before, busy) => {
      const chosen = chooseSeries(before, busy, MAX);
      const least = Math.min(...chosen.map((id) => busy.get(id) ?? 0));
      for (const [id, weight] of busy) {
        if (!chosen.includes(id) && weight > 0) expect(weight).toBeLessThanOrEqual(least * BUSIER_BY);
      }
    }),
  );
});

test('with the same weights nothing changes any more, in whatever order they come', () => {
  fc.assert(
    fc.property(members, weights, (before, busy) => {
      const chosen = chooseSeries(before, busy, MAX);
      expect(new Set(chooseSeries(new Set(chosen), busy, MAX))).toEqual(new Set(chosen));
      expect(chooseSeries(before, new Map([...busy].toReversed()), MAX)).toEqual(chosen);
    }),
  );
});

const demandOf = (waiting: number): Demand => ({
  queuedNormal: waiting,
  queuedLow: 0,
  running: 1,
  runningLow: 0,
  oldestQueuedAtMs: waiting === 0 ? null : 10_000 - waiting,
  endedLastMinute: 0,
  executionMsLastMinute: 0,
});

test('what has no series of its own is summed as one, and nothing is counted twice', () => {
  const demands = new Map(
    Array.from({ length: SERIES_MAX + 50 }, (_, index) => [`e${String(index)}` as EndpointId, demandOf(index)]),
  );
  const { members: chosen, series } = readQueues(new Set(), demands, 10_000);
  expect(chosen.size).toBe(SERIES_MAX);
  const total = series.reduce((sum, { waiting }) => sum + waiting, 0);
  expect(total).toBe([...demands.values()].reduce((sum, { queuedNormal }) => sum + queuedNormal, 0));
  expect(series.reduce((sum, { running }) => sum + running, 0)).toBe(demands.size);
  expect(series.at(-1)).toEqual({
    endpoint: OTHER_ENDPOINTS,
    waiting: (49 * 50) / 2,
    running: 50,
    oldestWaitMs: 49,
  });
});

test('where there is nothing, that is said', () => {
  expect(readQueues(new Set(['e1' as EndpointId]), new Map(), 0)).toEqual({
    members: new Set(),
    series: [{ endpoint: OTHER_ENDPOINTS, waiting: 0, running: 0, oldestWaitMs: 0 }],
  });
});
