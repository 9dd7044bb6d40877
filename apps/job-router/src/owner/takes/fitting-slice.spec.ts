import type { JobId, ListedJob, Slice } from '@berth/domain';
import { expect, test } from '@jest/globals';
import { fittingSlice } from './fitting-slice.js';

const entry = (at: number, error: string | null): ListedJob => ({
  ...{ jobId: `j${at}` as JobId, status: 'FAILED', origin: 'run', createdAtMs: 1_000 - at, startedAtMs: null },
  ...{ endedAtMs: null, delayTimeMs: 0, executionTimeMs: 0, hostId: null, workerId: null, attempts: 1, error },
  queue: null,
});

const sliceOf = (count: number, error: string | null): Slice<ListedJob> => ({
  entries: Array.from({ length: count }, (_, at) => entry(at, error)),
  through: null,
});

test('a list that fits is told whole', () => {
  const slice = sliceOf(101, 'it broke');
  expect(fittingSlice(slice)).toBe(slice);
});

test('of one that does not, as much is told as fits, and the list goes on below it', () => {
  const slice = sliceOf(100, '\u20ac'.repeat(4_096));
  const told = fittingSlice(slice);
  expect(Buffer.byteLength(JSON.stringify(told))).toBeLessThan(600_000);
  expect(told.entries.length).toBeGreaterThan(30);
  expect(told.through).toEqual({ createdAtMs: told.entries.at(-1)?.createdAtMs, jobId: told.entries.at(-1)?.jobId });
});

test('at least one entry is told, whatever it takes', () => {
  expect(fittingSlice(sliceOf(3, 'x'), 1)).toMatchObject({ entries: [{ jobId: 'j0' }], through: { jobId: 'j0' } });
  expect(fittingSlice(sliceOf(1, 'x'), 1)).toMatchObject({ entries: [{ jobId: 'j0' }], through: null });
});
