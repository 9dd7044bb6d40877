import type { LogFinding, LogSum, StateSum } from '@berth/endpoint-log';
import { describe, expect, test } from '@jest/globals';
import { bytesText, countText, durationText, instantText } from './amounts.js';
import { TextFormat } from './text-format.js';

const format = new TextFormat({ jobId: null, hasPayloads: false });
const STATE: StateSum = {
  ...{
    isComplete: true,
    lastAtMs: 1_800_000_000_000,
    term: 3,
    isDeleted: false,
    livingBytes: 5,
    keys: 1,
    deliveries: 0,
  },
  jobs: { IN_QUEUE: 2, IN_PROGRESS: 1, COMPLETED: 0, FAILED: 0, CANCELLED: 0, TIMED_OUT: 0 },
  counters: { completed: 1, failed: 0, cancelled: 0, timedOut: 0, retried: 0 },
  ...{ covers: 4, deadBytes: 2_048 },
};
const SUM: LogSum = { batches: 3, facts: 9, bytes: 4_096, first: 5, last: 9, state: STATE };
const OTHER_INDEX: LogFinding = { kind: 'other-index', sequence: 6, member: 'dueAtMs', told: null, found: 0 };
const ILLEGAL: LogFinding = { kind: 'illegal', sequence: 7, line: 2, fact: 'taken', why: 'other-token' };

const verdict = (
  findings: readonly LogFinding[],
  more: Partial<Parameters<TextFormat['conclusion']>[0]> = {},
): string => format.conclusion({ findings, found: findings.length, sum: SUM, removable: null, ...more }, false);

describe('the verdict', () => {
  test('is one line: whole, and what of', () => {
    expect(verdict([])).toBe(
      'WHOLE: 3 batches (#5 to #9), 9 facts, 4.0 KiB; jobs: 2 IN_QUEUE, 1 IN_PROGRESS; about 2.0 KiB of it dead\n',
    );
  });

  test.each([
    ['an empty log', { ...SUM, batches: 0, first: null, last: null, state: null }, 'WHOLE: nothing is in it\n'],
    ['a deleted endpoint', { ...SUM, state: { ...STATE, isDeleted: true } }, /; the endpoint is deleted\n$/],
    ['no jobs', { ...SUM, state: { ...STATE, jobs: { ...STATE.jobs, IN_QUEUE: 0, IN_PROGRESS: 0 } } }, /; jobs: none;/],
  ])('of %s', (_, sum, text) => {
    expect(verdict([], { sum })).toMatch(text);
  });

  test('names the worst: an index that is wrong harms nobody', () => {
    expect(verdict([OTHER_INDEX])).toBe(
      'WHOLE, but its index is wrong: #6 has an index that says dueAtMs nothing where the facts say 1970-01-01T00:00:00.000Z\n',
    );
    expect(verdict([OTHER_INDEX, ILLEGAL])).toBe(
      'BROKEN: #7 line 2 cannot be: taken, it is in the name of somebody who does not hold it (other-token); 1 more finding (--check lists them)\n',
    );
  });

  test('names what may be removed', () => {
    const unreadable: LogFinding = { kind: 'unreadable', sequence: 9, line: null, reason: 'it is no batch' };
    expect(verdict([unreadable], { removable: 9 })).toBe(
      'BROKEN: #9 cannot be read: it is no batch\nWhat would be lost without it: --skip 9\n',
    );
  });
});

test('a check lists what it found, and says how much more there is', () => {
  const conclusion = { findings: [OTHER_INDEX, ILLEGAL], found: 140, sum: SUM, removable: null };
  const lines = format.conclusion(conclusion, true).split('\n');
  expect(lines.filter((line) => line.startsWith('!!'))).toEqual([
    expect.stringContaining('#6 has an index'),
    expect.stringContaining('#7 line 2 cannot be'),
    '!! and 138 more',
  ]);
});

test('amounts are short', () => {
  expect([0, 1_023, 1_024, 1_572_864].map(bytesText)).toEqual(['0 B', '1023 B', '1.0 KiB', '1.5 MiB']);
  expect([0, 250, 1_000, 1_500, 90_000, 5_400_000, 86_400_000].map(durationText)).toEqual([
    ...['0 ms', '250 ms', '1 s', '1500 ms', '90 s', '90 min', '1 d'],
  ]);
  expect([countText(1, 'try', 'tries'), countText(2, 'try', 'tries')]).toEqual(['1 try', '2 tries']);
  expect([instantText(0), instantText(Number.MAX_SAFE_INTEGER)]).toEqual([
    '1970-01-01T00:00:00.000Z',
    '9007199254740991',
  ]);
});
