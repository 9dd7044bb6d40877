import type { AccountId, EndpointId, JobId } from '@berth/domain';
import { beforeEach, expect, test } from '@jest/globals';
import { ChunkQuotas, type StreamingAttempt } from './chunk-quotas.js';

const ACCOUNT = 'a1' as AccountId;
const KEY = { endpointId: 'e1' as EndpointId, jobId: 'j1' as JobId };
const FIRST: StreamingAttempt = { ...KEY, attempt: 1, accountId: ACCOUNT };
const SECOND: StreamingAttempt = { ...FIRST, attempt: 2 };
const LIMITS = { chunkBytesPerAttempt: 100, chunkBytes: 250 };

let quotas: ChunkQuotas;
let index: number;
/** Bytes that are left where chunks lie. */
let free: number;
beforeEach(() => {
  free = Number.MAX_SAFE_INTEGER;
  const rooms = { freeBytesOf: () => free, bring: (_: unknown, bytes: number) => void (free -= bytes) };
  quotas = new ChunkQuotas({ rooms, shardOf: (jobId) => jobId.length });
  index = 0;
});

const limitOf = (full: ReturnType<ChunkQuotas['add']>): string | null => full?.limit ?? null;

/** A chunk that has not come before. */
const add = (attempt: StreamingAttempt, bytes: number): string | null =>
  limitOf(quotas.add(attempt, { index: index++, bytes }, LIMITS));

test('an attempt streams up to its bound, and what does not fit is not counted', () => {
  const full = 'chunkBytesPerAttempt';
  expect([60, 41, 40, 1, 0].map((bytes) => add(FIRST, bytes))).toEqual([null, full, null, full, null]);
});

test('a chunk that comes again counts once, and where it was refused it counts when it comes', () => {
  const at = (place: number, bytes: number) => limitOf(quotas.add(FIRST, { index: place, bytes }, LIMITS));
  // As a host sends them: several side by side, in any order, each as often as it has to.
  expect([1, 0, 1, 3, 0, 2, 3, 2].map((place) => at(place, 20))).toEqual(Array(8).fill(null));
  expect(quotas.bytesOf(ACCOUNT)).toBe(80);
  expect([at(4, 21), at(4, 20), at(4, 20), at(5, 1)]).toEqual([
    'chunkBytesPerAttempt',
    null,
    null,
    'chunkBytesPerAttempt',
  ]);
});

test('who skips places or goes far back pays for each chunk', () => {
  const at = (place: number) => quotas.add(FIRST, { index: place, bytes: 10 }, LIMITS);
  expect([1_000_000, 5, 5, 999_990, 999_990].map(at)).toEqual(Array(5).fill(null));
  expect(quotas.bytesOf(ACCOUNT)).toBe(40);
});

test('another attempt begins anew, and so does a job that was forgotten', () => {
  add(FIRST, 100);
  expect([add(SECOND, 100), add(SECOND, 1)]).toEqual([null, 'chunkBytesPerAttempt']);
  expect(quotas.bytesOf(ACCOUNT)).toBe(100);
  quotas.forget(KEY);
  expect([quotas.size, quotas.bytesOf(ACCOUNT)]).toEqual([0, 0]);
  expect(add(SECOND, 100)).toBeNull();
});

test('all jobs of an account stream up to its bound, and another account what it may', () => {
  const jobs = ['j1', 'j2', 'j3'].map((jobId) => ({ ...FIRST, jobId: jobId as JobId }));
  expect(jobs.map((job) => add(job, 90))).toEqual([null, null, 'chunkBytes']);
  expect(add({ ...FIRST, endpointId: 'e2' as EndpointId, accountId: 'a2' as AccountId }, 100)).toBeNull();
  quotas.forget(KEY);
  expect(jobs.slice(2).map((job) => add(job, 90))).toEqual([null]);
});

test('an account has two thirds of what others leave in a room, however many of its jobs and of other accounts stream', () => {
  free = 60;
  const beside = { ...FIRST, jobId: 'j2' as JobId };
  expect([add(FIRST, 30), add(beside, 10), add(beside, 1), add(FIRST, 1)]).toEqual([
    null,
    null,
    'chunkRoom',
    'chunkRoom',
  ]);
  const other = { ...FIRST, jobId: 'j3' as JobId, accountId: 'a2' as AccountId };
  expect([add(other, 13), add(other, 1), free]).toEqual([null, 'chunkRoom', 7]);
  expect(quotas.add(FIRST, { index: 99, bytes: 1 }, LIMITS)).toEqual({ limit: 'chunkRoom', maxBytes: 31 });
  // Elsewhere it begins anew, and here when its first result has gone.
  expect(add({ ...FIRST, jobId: 'j10' as JobId }, 4)).toBeNull();
  quotas.forget(KEY);
  free = 40;
  expect(add(beside, 15)).toBeNull();
});

test('what another router owns is counted there', () => {
  add(FIRST, 100);
  add({ ...FIRST, endpointId: 'e2' as EndpointId }, 50);
  quotas.leave((endpointId) => endpointId === 'e1');
  expect([quotas.size, quotas.bytesOf(ACCOUNT)]).toEqual([1, 50]);
});

test('so many jobs are counted and no more: the one that has not streamed the longest goes', () => {
  const limits = { chunkBytesPerAttempt: 1, chunkBytes: 1_000_000 };
  const one = (at: number, place: number) =>
    limitOf(quotas.add({ ...FIRST, jobId: `j${at}` as JobId }, { index: place, bytes: 1 }, limits));
  for (let at = 0; at <= 100_000; at += 1) one(at, 0);
  expect([quotas.size, quotas.bytesOf(ACCOUNT)]).toEqual([100_000, 100_000]);
  expect([one(1, 1), one(0, 1)]).toEqual(['chunkBytesPerAttempt', null]);
});
