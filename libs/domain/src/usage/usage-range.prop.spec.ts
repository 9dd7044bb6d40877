import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { USAGE_BUCKETS, USAGE_SPANS, usageRange, type AskedRange } from './usage-range.js';

const at = (text: string): number => Date.parse(text);
const NOW_MS = at('2026-03-29T01:20:00Z');

describe('the range of a report of usage', () => {
  test.each<[string, AskedRange, readonly [string, string]]>([
    ['hours unless said', { bucket: 'hour' }, ['2026-03-28T02:00:00Z', '2026-03-29T02:00:00Z']],
    ['days unless said', { bucket: 'day' }, ['2026-02-28T00:00:00Z', '2026-03-30T00:00:00Z']],
    [
      'an end alone',
      { bucket: 'day', endMs: at('2026-01-31T00:00:00Z') },
      ['2026-01-01T00:00:00Z', '2026-01-31T00:00:00Z'],
    ],
    [
      'a start alone',
      { bucket: 'hour', startMs: at('2026-03-29T00:59:59.999Z') },
      ['2026-03-29T00:00:00Z', '2026-03-29T02:00:00Z'],
    ],
    [
      'a moment',
      { bucket: 'day', startMs: at('2026-03-29T23:59:59.999Z'), endMs: at('2026-03-30T00:00:00Z') },
      ['2026-03-29T00:00:00Z', '2026-03-30T00:00:00Z'],
    ],
    [
      'an instant more than a day',
      { bucket: 'day', startMs: at('2026-03-29T00:00:00Z'), endMs: at('2026-03-30T00:00:00.001Z') },
      ['2026-03-29T00:00:00Z', '2026-03-31T00:00:00Z'],
    ],
  ])('%s', (_, asked, [start, end]) => {
    expect(usageRange(asked, NOW_MS)).toEqual({ kind: 'range', startMs: at(start), endMs: at(end) });
  });

  test.each<[string, AskedRange, RegExp]>([
    ['no time at all', { bucket: 'hour', startMs: 7, endMs: 7 }, /^\$\.start: must be before `end`$/],
    ['the wrong way round', { bucket: 'hour', startMs: 8, endMs: 7 }, /before `end`/],
    ['a start to come', { bucket: 'hour', startMs: NOW_MS }, /before now/],
    ['hours of more than 31 days', { bucket: 'hour', startMs: 0, endMs: 31 * 86_400_000 + 1 }, /31 days before `end`/],
    ['days of more than 366', { bucket: 'day', startMs: 0, endMs: 366 * 86_400_000 + 1 }, /366 days before `end`/],
    ['long ago until now', { bucket: 'day', startMs: 0 }, /366 days before now/],
  ])('refuses %s', (_, asked, reason) => {
    expect(usageRange(asked, NOW_MS)).toEqual({ kind: 'refused', errors: [expect.stringMatching(reason)] });
  });

  test('has whole buckets, all that is asked, and less than two more than the longest', () => {
    const instants = fc.integer({ min: at('2000-01-01T00:00:00Z'), max: at('3000-01-01T00:00:00Z') });
    const buckets = fc.constantFrom(...USAGE_BUCKETS);
    const asked = fc.record({ bucket: buckets, startMs: instants, lengthMs: fc.nat(), nowMs: instants });
    fc.assert(
      fc.property(asked, ({ bucket, lengthMs, nowMs, startMs }) => {
        const { bucketMs, maxMs } = USAGE_SPANS[bucket];
        const endMs = startMs + 1 + (lengthMs % maxMs);
        const range = usageRange({ bucket, startMs, endMs }, nowMs);
        if (range.kind === 'refused') throw new Error(range.errors.join());
        expect([range.startMs % bucketMs, range.endMs % bucketMs]).toEqual([0, 0]);
        expect(range.startMs <= startMs && startMs < range.startMs + bucketMs).toBe(true);
        expect(range.endMs - bucketMs < endMs && endMs <= range.endMs).toBe(true);
        expect(range.endMs - range.startMs).toBeLessThan(maxMs + 2 * bucketMs);
      }),
    );
  });
});
