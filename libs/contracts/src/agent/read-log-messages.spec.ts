import { LOG_LINE_CHARACTERS_MAX, formatLogPlace, readLogPlace, readSince } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LOG_CURSORS_MAX, LOG_LINES_MAX, type LogsReply } from './log-messages.js';
import { readLogsReply } from './read-log-messages.js';

const LINES_IN_ALL_MAX = LOG_LINES_MAX + LOG_CURSORS_MAX;
const ESC = String.fromCharCode(27);

const line = (sequence: number, more: object = {}) => ({
  ...{ sequence, atMs: 1_763_800_000_000, source: 'container', line: 'tick' },
  ...more,
});
const page = (workerId: string, lines: readonly unknown[], more: object = {}) => ({
  ...{ workerId, state: 'open', lines, next: 1_000_000, missing: 0 },
  ...more,
});
const manyLines = (count: number) => Array.from({ length: count }, (_, index) => line(index + 1));

function read(...pages: readonly unknown[]): LogsReply['pages'] {
  const reading = readLogsReply({ pages });
  if (reading.kind !== 'value') throw new Error(reading.reason);
  return reading.value.pages;
}

const sequencesOf = (pages: LogsReply['pages']): readonly number[] =>
  pages.flatMap(({ lines }) => lines.map(({ sequence }) => sequence));

describe('what a host says of logs', () => {
  test.each<[string, object]>([
    ['a text that is none', { line: 7 }],
    ['a time that is none', { atMs: Number.NaN }],
    ['a time before all times', { atMs: -1 }],
    ['a time that no reader could come back with', { atMs: 8.64e15 }],
    ['a place that is none', { sequence: 1.5 }],
    ['a place that no reader could come back with', { sequence: 1e15, next: 1e15 }],
    ['a place behind the one before', { sequence: 1 }],
    ['a place that was not looked at', { sequence: 1_000_001 }],
    ['a source that nobody knows', { source: 'kernel' }],
    ['a job with a name that none can have', { jobId: 'a b' }],
  ])('is taken without a line that has %s', (_, fault) => {
    expect(sequencesOf(read(page('w1', [line(1), line(2, fault), line(3)])))).toEqual([1, 3]);
    expect(sequencesOf(read(page('w1', [line(1), null, line(3)])))).toEqual([1, 3]);
  });

  test('is shown without what moves a cursor, colours, turns the reading order round or breaks a text', () => {
    const hostile = `  a${ESC}[2J${ESC}[31mb\r\nc\u2028d\u202Ee\uD800f\u0000g  `;
    expect(read(page('w1', [line(1, { line: hostile })]))[0]?.lines[0]?.line).toBe('  ab  c de\uFFFDf g');
  });

  test('is cut where a line is longer than one may be', () => {
    const text = read(page('w1', [line(1, { line: 'x'.repeat(1_000_000) })]))[0]?.lines[0]?.line;
    expect(text).toHaveLength(LOG_LINE_CHARACTERS_MAX);
    expect(text?.endsWith('…')).toBe(true);
  });

  test('is taken without the page of a worker that cannot be read', () => {
    const bad = [null, page('a.b', []), page('w2', [], { state: 'gone' }), page('w2', [], { missing: -1 })];
    const places = [page('w2', [], { next: 1e15 }), page('w2', [], { next: null }), { ...page('w2', []), lines: 'x' }];
    expect(read(...bad, ...places, page('w1', [line(1)])).map(({ workerId }) => workerId)).toEqual(['w1']);
  });

  test('goes on behind the last line that there is room for', () => {
    const [first, second, ...more] = read(
      page('w1', manyLines(LINES_IN_ALL_MAX - 2)),
      page('w2', manyLines(5), { next: 5, state: 'ended' }),
      page('w3', manyLines(1)),
    );
    expect(first).toMatchObject({ next: 1_000_000 });
    expect(second).toMatchObject({ workerId: 'w2', next: 2, state: 'open' });
    expect(sequencesOf(second === undefined ? [] : [second])).toEqual([1, 2]);
    // Its worker is asked for again.
    expect(more).toEqual([]);
  });

  test('is looked at only so far, where nothing of it can be read', () => {
    expect(
      read(
        page(
          'w1',
          Array.from({ length: LINES_IN_ALL_MAX + 1 }, () => ({})),
        ),
        page('w2', [line(1)]),
      ),
    ).toEqual([]);
  });

  test('names as many workers as one may ask for', () => {
    const pages = Array.from({ length: LOG_CURSORS_MAX + 1 }, (_, index) => page(`w${String(index)}`, []));
    expect(read(...pages)).toHaveLength(LOG_CURSORS_MAX);
  });

  test.each([null, 'pages', {}, { pages: {} }])('is nothing where it has no pages', (body) => {
    expect(readLogsReply(body)).toMatchObject({ kind: 'unreadable' });
  });

  test('brings every reader back to where it was, whatever the host says', () => {
    const number = fc.oneof(fc.nat(), fc.double(), fc.maxSafeInteger());
    const anyLine = fc.record({
      ...{ sequence: number, atMs: number, source: fc.constant('container'), line: fc.string({ unit: 'binary' }) },
    });
    const anyPage = fc.record({
      ...{ workerId: fc.constant('w1'), state: fc.constant('open'), lines: fc.array(anyLine) },
      ...{ next: number, missing: number },
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(anyPage, fc.jsonValue())), (pages) => {
        for (const { lines, next, workerId } of read(...pages)) {
          for (const { atMs, sequence } of lines) {
            const place = { sequence, workers: new Map([[workerId, next]]) };
            const told = formatLogPlace(atMs, place);
            expect(readLogPlace(told)).toEqual(place);
            expect(readSince(told.slice(0, told.indexOf('/')))).toBe(Math.trunc(atMs));
          }
        }
      }),
    );
  });
});
