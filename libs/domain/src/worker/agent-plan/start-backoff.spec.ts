import { describe, expect, test } from '@jest/globals';
import { failuresAfterEnd, startDelayMs } from './start-backoff.js';
import { newJournal, nextStartAtMs, withContainerEnd, withStartFailure } from './worker-journal.js';

test('starts are delayed 1, 2, 4 … 300 s', () => {
  const delays = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 2_000].map((failedStarts) => startDelayMs(failedStarts) / 1000);
  expect(delays).toEqual([0, 1, 2, 4, 8, 16, 128, 256, 300, 300, 300]);
});

describe('failures in a row after a container ended', () => {
  const end = { exitCode: 1, readyForMs: null, finishedJobs: 0, isExpected: false };

  test.each([
    ['never ready', end, 4],
    ['left with code 0 before it was ready', { ...end, exitCode: 0 }, 4],
    ['crashed soon after it was ready', { ...end, readyForMs: 59_999 }, 4],
    ['crashed after it was stable', { ...end, readyForMs: 60_000 }, 1],
    ['crashed after a job', { ...end, readyForMs: 5_000, finishedJobs: 1 }, 1],
    ['recycled itself after a job', { ...end, exitCode: 0, readyForMs: 5_000, finishedJobs: 1 }, 0],
    ['left with code 0 without a job', { ...end, exitCode: 0, readyForMs: 5_000 }, 4],
    ['stopped by the agent', { ...end, isExpected: true }, 3],
    ['stopped by the agent after it was stable', { ...end, readyForMs: 60_000, isExpected: true }, 0],
    ['vanished', { ...end, exitCode: null }, 4],
  ])('%s', (_, given, expected) => {
    expect(failuresAfterEnd(3, given)).toBe(expected);
  });
});

const FAILURE = { reason: 'image missing', kind: 'image' } as const;

describe('the journal', () => {
  test('delays the next start from the last failure', () => {
    const once = withStartFailure(newJournal(0), FAILURE, 1_000);
    const twice = withStartFailure(once, FAILURE, 5_000);
    expect([newJournal(0), once, twice].map(nextStartAtMs)).toEqual([0, 2_000, 7_000]);
    expect(twice).toMatchObject({ failedStarts: 2, lastFailure: { ...FAILURE, atMs: 5_000 } });
  });

  test('forgets the failures of a worker that has started well', () => {
    const failed = withStartFailure(newJournal(0), FAILURE, 1_000);
    const end = { containerId: 'c', exitCode: 0, readyForMs: 1, finishedJobs: 1, isExpected: false, reason: 'left' };
    expect(withContainerEnd(failed, end, 9_000)).toEqual({ ...newJournal(0), countedContainerId: 'c' });
  });
});
