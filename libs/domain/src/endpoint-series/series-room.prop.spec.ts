import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EndpointId } from '../ids.js';
import { OTHER_ENDPOINTS } from './queue-series.js';
import { SERIES_KEPT_MS, SeriesRoom } from './series-room.js';

const MAX = 3;
const counts = fc.array(fc.record({ who: fc.nat(7), laterMs: fc.nat(SERIES_KEPT_MS) }), { maxLength: 60 });

test('never more than there is room for, and nobody leaves who was counted within the hour', () => {
  fc.assert(
    fc.property(counts, (story) => {
      let nowMs = 0;
      const members = new Set<EndpointId>();
      const countedAtMs = new Map<EndpointId, number>();
      const room = new SeriesRoom({
        max: MAX,
        onEnter: (id) => {
          expect(members.has(id)).toBe(false);
          members.add(id);
        },
        onLeave: (id) => {
          expect(nowMs - (countedAtMs.get(id) ?? 0)).toBeGreaterThanOrEqual(SERIES_KEPT_MS);
          expect(members.delete(id)).toBe(true);
        },
      });
      for (const { laterMs, who } of story) {
        nowMs += laterMs;
        const id = `e${String(who)}` as EndpointId;
        const label = room.labelOf(id, nowMs);
        if (label === OTHER_ENDPOINTS) {
          expect(members.has(id)).toBe(false);
          expect(members.size).toBe(MAX);
          continue;
        }
        expect(label).toBe(id);
        expect(members.has(id)).toBe(true);
        countedAtMs.set(id, nowMs);
        expect(members.size).toBeLessThanOrEqual(MAX);
      }
    }),
  );
});

test('one that was quiet for an hour makes room for another', () => {
  const told: string[] = [];
  const room = new SeriesRoom({
    max: 1,
    onEnter: (id) => told.push(`${id} enters`),
    onLeave: (id) => told.push(`${id} leaves`),
  });
  const [a, b] = ['a' as EndpointId, 'b' as EndpointId];
  expect([room.labelOf(a, 0), room.labelOf(b, SERIES_KEPT_MS - 1)]).toEqual([a, OTHER_ENDPOINTS]);
  expect(room.labelOf(b, SERIES_KEPT_MS)).toBe(b);
  expect(told).toEqual(['a enters', 'a leaves', 'b enters']);
});
