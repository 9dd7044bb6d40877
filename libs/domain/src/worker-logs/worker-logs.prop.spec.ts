import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JobId } from '../ids.js';
import { jobOfLine, noteJobEnd, noteJobStart, type JobSpan } from './job-of-line.js';
import { admitLines, fullAllowance } from './line-allowance.js';
import { formatLogPlace, readLogPlace, readSince } from './log-place.js';
import { spoolsToTrim, type SpoolSegment } from './spool-trim.js';
import { describeAbsence, describeChange, describeDropped } from './system-lines.js';

const NOW_MS = 1_763_800_000_000;
const J1 = 'job1' as JobId;
const J2 = 'job2' as JobId;

describe('lines under pressure', () => {
  test('are each kept or counted, in their order, and what is kept stays within the rate', () => {
    const batches = fc.array(
      fc.record({
        afterMs: fc.integer({ min: 0, max: 5_000 }),
        lengths: fc.array(fc.integer({ min: 0, max: 2_000_000 }), { maxLength: 20 }),
      }),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(batches, (printed) => {
        let allowance = fullAllowance(0);
        let [nowMs, kept] = [0, 0];
        for (const { afterMs, lengths } of printed) {
          nowMs += afterMs;
          const lines = lengths.map((length) => ({ text: 'x'.repeat(length) }));
          const verdict = admitLines(lines, allowance, nowMs);
          expect(verdict.admitted).toEqual(lines.slice(0, verdict.admitted.length));
          expect(verdict.admitted.length + verdict.dropped).toBe(lines.length);
          kept += verdict.admitted.reduce((sum, { text }) => sum + text.length, 0);
          ({ allowance } = verdict);
        }
        expect(kept).toBeLessThanOrEqual(8 * 2 ** 20 + (nowMs / 1_000) * 2 ** 19);
      }),
      { numRuns: 50 },
    );
  });
});

describe('the job of a line', () => {
  const spans = noteJobEnd(noteJobStart([], J1, 1_000), J1, 2_000);

  test.each([
    ['names it', '{"requestId": "other", "message": "m"}', 0, 'other'],
    ['looks like one that does and is no JSON', '{"requestId": ', 1_500, 'job1'],
    ['names something that is no id', '{"requestId": null}', 1_500, 'job1'],
    ['was printed while the worker had it', 'hello', 1_500, 'job1'],
    ['was read just after its end', 'bye', 2_400, 'job1'],
    ['was printed before', 'loading', 900, undefined],
    ['was printed long after', 'waiting', 9_000, undefined],
  ])('that %s', (...[, text, atMs, jobId]) => {
    expect(jobOfLine(text, atMs, spans)).toBe(jobId);
  });

  test('is not guessed while the worker has two', () => {
    const both = noteJobStart(noteJobStart([], J1, 1_000), J2, 1_000);
    expect(jobOfLine('whose?', 1_500, both)).toBeUndefined();
    expect(jobOfLine('job2’s', 3_000, noteJobEnd(both, J1, 2_000))).toBe(J2);
  });

  test('is remembered for a bounded number of jobs, and for all that run', () => {
    let kept: readonly JobSpan[] = noteJobStart([], 'runs' as JobId, 0);
    for (let job = 0; job < 200; job += 1) {
      kept = noteJobEnd(noteJobStart(kept, `j${job}` as JobId, job), `j${job}` as JobId, job);
    }
    expect(kept).toHaveLength(65);
    expect(kept[0]?.jobId).toBe('runs');
  });
});

describe('spools', () => {
  const segment = fc.record({
    workerId: fc.constantFrom('w1', 'w2', 'w3'),
    accountId: fc.constantFrom('a1', 'a2'),
    firstSequence: fc.integer({ min: 1, max: 1_000 }),
    bytes: fc.integer({ min: 1, max: 100 }),
    lastAtMs: fc.integer({ min: NOW_MS - 2_000, max: NOW_MS }),
    isOpen: fc.boolean(),
  });
  const sum = (list: readonly SpoolSegment[], key: 'workerId' | 'accountId', id: string): number =>
    list.filter((each) => each[key] === id && !each.isOpen).reduce((total, { bytes }) => total + bytes, 0);

  test('are within their bounds afterwards, lose no more than needed and the oldest first, and nothing that is written to', () => {
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 40 }), (segments: SpoolSegment[]) => {
        const bounds = { workerBytesMax: 300, accountBytesMax: 500, ageMaxMs: 1_000 };
        const going = new Set(spoolsToTrim(segments, bounds, NOW_MS));
        const kept = segments.filter((each) => !going.has(each));
        for (const each of going) expect(each.isOpen).toBe(false);
        for (const each of kept) {
          if (!each.isOpen) expect(each.lastAtMs).toBeGreaterThanOrEqual(NOW_MS - bounds.ageMaxMs);
        }
        for (const id of ['w1', 'w2', 'w3']) expect(sum(kept, 'workerId', id)).toBeLessThanOrEqual(300);
        for (const id of ['a1', 'a2']) expect(sum(kept, 'accountId', id)).toBeLessThanOrEqual(500);
        expect(spoolsToTrim(kept, bounds, NOW_MS)).toEqual([]);
      }),
    );
  });

  test('of one worker lose the oldest first', () => {
    const of = (firstSequence: number, isOpen = false): SpoolSegment => ({
      workerId: 'w1',
      accountId: 'a1',
      firstSequence,
      bytes: 100,
      lastAtMs: NOW_MS - 1_000 + firstSequence,
      isOpen,
    });
    const bounds = { workerBytesMax: 250, accountBytesMax: 1_000, ageMaxMs: 10_000 };
    const going = spoolsToTrim([of(1), of(10), of(20), of(30, true)], bounds, NOW_MS);
    expect(going.map(({ firstSequence }) => firstSequence)).toEqual([1, 10]);
  });
});

describe('a place', () => {
  test('is read as it was written', () => {
    const workers = fc.option(
      fc.uniqueArray(
        fc.tuple(fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
        { maxLength: 64, selector: ([id]) => id },
      ),
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999 }), workers, (sequence, entries) => {
        const place = { sequence, workers: entries === null ? null : new Map(entries) };
        expect(readLogPlace(formatLogPlace(NOW_MS, place))).toEqual(place);
      }),
    );
  });

  test('has the published form, and nothing else is one', () => {
    expect(formatLogPlace(Date.parse('2026-06-01T12:05:04Z'), { sequence: 42, workers: null })).toBe(
      '2026-06-01T12:05:04.000Z/000000000042',
    );
    expect(readLogPlace('2026-06-01T12:05:04Z/000000000042')).toEqual({ sequence: 42, workers: null });
    for (const text of ['', '42', '2026-06-01T12:05:04Z/42', '2026-06-01T12:05:04Z/000000000042/w1', 'x/000000000042'])
      expect(readLogPlace(text)).toBeNull();
  });

  test.each([
    ['2026-06-01T12:05:04Z', 1_780_315_504_000],
    ['2026-06-01T14:05:04.25+02:00', 1_780_315_504_250],
    ['2026-06-01', null],
    ['yesterday', null],
    ['2026-13-01T00:00:00Z', null],
  ])('in time is RFC 3339: %s', (text, atMs) => {
    expect(readSince(text)).toBe(atMs);
  });
});

describe('what is said of a worker', () => {
  const preparing = { phase: 'preparing', reason: 'the image is being pulled, 40 %' } as const;

  test('is what has changed', () => {
    expect(describeChange(null, preparing)).toBe('preparing: the image is being pulled, 40 %');
    expect(describeChange(preparing, preparing)).toBeNull();
    expect(describeChange(preparing, { phase: 'idle', reason: '' })).toBe('ready');
    expect(describeChange({ phase: 'idle', reason: '' }, { phase: 'busy', reason: '' })).toBeNull();
    expect(describeChange({ phase: 'busy', reason: '' }, { phase: 'idle', reason: 'before: a start failed' })).toBe(
      'ready: before: a start failed',
    );
    expect(describeChange({ phase: 'busy', reason: '' }, { phase: 'removed', reason: '' })).toBe('removed');
  });

  test('counts', () => {
    expect([describeDropped(1), describeDropped(2)].map((line) => line.slice(0, 14))).toEqual([
      '1 line was dro',
      '2 lines were d',
    ]);
    expect(describeAbsence(1)).toContain('1 line is');
    expect(describeAbsence(3)).toContain('3 lines are');
    expect(describeAbsence(null)).toContain('some lines');
  });
});
