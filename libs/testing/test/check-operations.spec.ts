import { describe, expect, test } from '@jest/globals';
import {
  checkCancel,
  checkKey,
  checkLife,
  checkPurges,
  checkStream,
  checkTold,
  type BrokenOperation,
} from '../src/checker/check-operations.js';

const promises = (found: readonly BrokenOperation[]): readonly string[] => found.map(({ promise }) => promise);

describe('a cancel', () => {
  test('holds', () => {
    expect(checkCancel({ jobId: 'j', laterStatuses: ['CANCELLED', 'CANCELLED'] })).toEqual([]);
  });

  test.each(['COMPLETED', 'IN_PROGRESS', null])('is broken by a later %s', (status) => {
    const found = checkCancel({ jobId: 'j', laterStatuses: ['CANCELLED', status] });
    expect(promises(found)).toEqual(['ended-otherwise-after-its-cancel']);
  });
});

test('one key is one job', () => {
  expect(checkKey({ key: 'k', jobIds: ['a', 'a'] })).toEqual([]);
  expect(promises(checkKey({ key: 'k', jobIds: ['a', 'b', 'a'] }))).toEqual(['two-jobs-for-one-key']);
});

describe('a life', () => {
  const job = { jobId: 'j', sentAtMs: 1_000, acceptedAtMs: 1_500, ttlMs: 10_000 };
  const read = (askedAtMs: number, answeredAtMs: number, isFound: boolean) => ({ askedAtMs, answeredAtMs, isFound });

  test('may end at any instant between the two that are known, and two seconds later', () => {
    const reads = [read(2_000, 2_001, true), read(11_000, 11_001, false), read(13_500, 13_501, true)];
    expect(checkLife({ ...job, reads })).toEqual([]);
  });

  test('is broken by a 404 before, and by a find after', () => {
    expect(promises(checkLife({ ...job, reads: [read(2_000, 10_999, false)] }))).toEqual(['gone-before-its-end']);
    expect(promises(checkLife({ ...job, reads: [read(13_501, 13_502, true)] }))).toEqual(['found-after-its-end']);
  });
});

describe('a receiver', () => {
  const told = (...calls: [string, string][]) =>
    checkTold({ jobId: 'j', status: 'COMPLETED', calls: calls.map(([webhookId, status]) => ({ webhookId, status })) });

  test('is told once, or again under the same id', () => {
    expect(told(['a', 'COMPLETED'])).toEqual([]);
    expect(told(['a', 'COMPLETED'], ['a', 'COMPLETED'], ['a', 'COMPLETED'])).toEqual([]);
  });

  test.each<[string, [string, string][]]>([
    ['never-told', []],
    ['told-too-often', Array.from({ length: 4 }, () => ['a', 'COMPLETED'])],
    ['told-under-two-ids', [['a', 'COMPLETED'] as [string, string], ['b', 'COMPLETED'] as [string, string]]],
    ['told-another-end', [['a', 'FAILED']]],
  ])('%s', (promise, calls) => {
    expect(promises(told(...calls))).toEqual([promise]);
  });
});

describe('a stream', () => {
  const read = (...chunks: [string, number][]) =>
    checkStream({ jobId: 'j', wanted: 3, chunks: chunks.map(([execution, index]) => ({ execution, index })) });

  test('is whole', () => {
    expect(read(['e', 0], ['e', 1], ['e', 2])).toEqual([]);
  });

  test.each<[string, [string, number][]]>([
    ['a missing chunk', [['e', 0] as [string, number], ['e', 2] as [string, number]]],
    ['a chunk twice', [0, 1, 1, 2].map((index) => ['e', index] as [string, number])],
    ['no end', [['e', 0] as [string, number], ['e', 1] as [string, number]]],
    ['two executions', [['d', 0] as [string, number], ['e', 1] as [string, number], ['e', 2] as [string, number]]],
  ])('with %s is broken', (_, chunks) => {
    expect(promises(read(...chunks))).toEqual(['stream-with-a-gap']);
  });
});

describe('purges', () => {
  const queue = { endpointId: 'e', accepted: 10, gone: 7, unknownSubmits: 0, removed: 7, unknownPurges: 0 };

  test('name what is gone', () => {
    expect(checkPurges(queue)).toEqual([]);
    expect(checkPurges({ ...queue, removed: 8, unknownSubmits: 1 })).toEqual([]);
    expect(checkPurges({ ...queue, removed: 2, unknownPurges: 1 })).toEqual([]);
  });

  test.each([{ removed: 8 }, { removed: 6 }, { removed: 9, unknownSubmits: 1 }, { removed: 8, unknownPurges: 1 }])(
    'are broken by %j',
    (doctored) => {
      expect(promises(checkPurges({ ...queue, ...doctored }))).toEqual(['purge-miscounted']);
    },
  );
});
