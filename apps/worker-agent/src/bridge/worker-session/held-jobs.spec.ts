import { beforeEach, describe, expect, test } from '@jest/globals';
import type { EndpointId, JobId, WorkerId } from '@berth/domain';
import type { Attempt } from '../../job-client/index.js';
import { HeldJobs } from './held-jobs.js';
import { isRefreshDue, isSilent, mustBeKilled } from './watch-worker.js';

const attempt = (jobId: string): Attempt => ({
  id: `ep1/${jobId}/1`,
  ref: { endpointId: 'ep1' as EndpointId, jobId: jobId as JobId, attempt: 1, token: `t-${jobId}` },
  workerId: 'w1' as WorkerId,
  traceparent: null,
  executionEndsAtMs: 1e9,
  expiresAtMs: 1e9,
  state: 'open',
  stop: null,
});
const named = (...ids: string[]): ReadonlySet<string> => new Set(ids);
const DELIVERED_MS = 100_000;

let jobs: HeldJobs;
beforeEach(() => {
  jobs = new HeldJobs();
  jobs.add(attempt('a'), DELIVERED_MS);
});
const idsOf = (found: readonly { readonly attempt: Attempt }[]): string[] => found.map((job) => job.attempt.ref.jobId);

describe('a job that its worker no longer names', () => {
  test('is lost at the second ping, not at the first', () => {
    expect(idsOf(jobs.notePing(named('a'), DELIVERED_MS + 5_000))).toEqual([]);
    expect(idsOf(jobs.notePing(named(), DELIVERED_MS + 15_000))).toEqual([]);
    expect(idsOf(jobs.notePing(named(), DELIVERED_MS + 25_000))).toEqual(['a']);
  });

  test('is kept when a ping names it again', () => {
    jobs.notePing(named('a'), DELIVERED_MS + 5_000);
    jobs.notePing(named(), DELIVERED_MS + 15_000);
    jobs.notePing(named('a'), DELIVERED_MS + 25_000);
    expect(idsOf(jobs.notePing(named(), DELIVERED_MS + 35_000))).toEqual([]);
  });

  test('is lost one ping after the worker said that it runs nothing', () => {
    jobs.noteLoop(DELIVERED_MS + 3_000);
    expect(idsOf(jobs.noteIdle(DELIVERED_MS + 3_000))).toEqual([]);
    expect(idsOf(jobs.notePing(named(), DELIVERED_MS + 9_000))).toEqual(['a']);
  });

  test('is lost without any ping once the worker says so again much later', () => {
    jobs.noteIdle(DELIVERED_MS + 3_000);
    expect(idsOf(jobs.noteIdle(DELIVERED_MS + 14_000))).toEqual([]);
    expect(idsOf(jobs.noteIdle(DELIVERED_MS + 16_000))).toEqual(['a']);
  });
});

describe('a job is not taken for lost', () => {
  test('by a take or ping that may have left before it was delivered', () => {
    expect(idsOf(jobs.noteIdle(DELIVERED_MS + 100))).toEqual([]);
    expect(idsOf(jobs.notePing(named(), DELIVERED_MS + 1_000))).toEqual([]);
    expect(jobs.get('a')?.doubtedAtMs).toBeNull();
  });

  test('while a handler blocks the main loop, so that the worker could not even read it', () => {
    for (let ping = 1; ping <= 30; ping += 1) {
      expect(idsOf(jobs.notePing(named('another'), DELIVERED_MS + ping * 10_000))).toEqual([]);
    }
    jobs.noteLoop(DELIVERED_MS + 301_000);
    jobs.notePing(named(), DELIVERED_MS + 305_000);
    expect(idsOf(jobs.notePing(named(), DELIVERED_MS + 315_000))).toEqual(['a']);
  });
});

test('a job told to stop is let go at the first sign', () => {
  const job = jobs.get('a');
  if (job === undefined) throw new Error('not held');
  job.stop = { reason: 'cancelled', sinceMs: DELIVERED_MS + 300 };
  expect(idsOf(jobs.noteIdle(DELIVERED_MS + 400))).toEqual([]);
  expect(idsOf(jobs.noteIdle(DELIVERED_MS + 600))).toEqual(['a']);
});

test('an older attempt cannot remove the one that is held', () => {
  expect(jobs.remove(attempt('a'))).toBe(false);
  expect(jobs.size).toBe(1);
});

describe('a stopped job', () => {
  test('that does not let go has its worker killed 10 s after the stop', () => {
    expect(mustBeKilled({ nowMs: 9_999, stop: { sinceMs: 0 } })).toBe(false);
    expect(mustBeKilled({ nowMs: 10_000, stop: { sinceMs: 0 } })).toBe(true);
    expect(mustBeKilled({ nowMs: 60_000, stop: null })).toBe(false);
  });

  test('has its worker ask anew twice', () => {
    const due = (nowMs: number, refreshes: number): boolean => isRefreshDue({ nowMs, refreshes, stop: { sinceMs: 0 } });
    expect([due(1_000, 0), due(1_500, 0), due(4_000, 1), due(5_000, 1), due(9_000, 2)]).toEqual([
      false,
      true,
      false,
      true,
      false,
    ]);
    expect(isRefreshDue({ nowMs: 9_000, refreshes: 0, stop: null })).toBe(false);
  });
});

test('a worker is silent when it used to ping and has said nothing for several intervals', () => {
  expect(isSilent({ nowMs: 35_000, pingedAtMs: 0, seenAtMs: 0 })).toBe(false);
  expect(isSilent({ nowMs: 35_001, pingedAtMs: 0, seenAtMs: 0 })).toBe(true);
  expect(isSilent({ nowMs: 35_001, pingedAtMs: 0, seenAtMs: 1_000 })).toBe(false);
  expect(isSilent({ nowMs: 99_000, pingedAtMs: null, seenAtMs: 0 })).toBe(false);
});
