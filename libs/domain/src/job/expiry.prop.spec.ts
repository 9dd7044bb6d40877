import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ATTACHMENT_SLACK_MS, attachmentTtlMs, disappearsAtMs, isGone, recordTtlMs } from './expiry.js';
import { JOB_STATES, isEnded } from './job-state.js';
import type { Job } from './job.js';
import { retentionMs } from './policy.js';

type Lifetime = Pick<Job, 'createdAtMs' | 'state' | 'endedAtMs' | 'expiresAtMs' | 'retentionMs'>;

const T0 = 1_000_000;

const lifetime: fc.Arbitrary<Lifetime> = fc
  .record({
    state: fc.constantFrom(...JOB_STATES),
    endedAfterMs: fc.nat(100_000),
    expiresAfterMs: fc.integer({ min: 1, max: 100_000 }),
    retentionMs: fc.nat(100_000),
  })
  .map(({ state, endedAfterMs, expiresAfterMs, retentionMs: kept }) => ({
    state,
    createdAtMs: T0,
    endedAtMs: isEnded(state) ? T0 + endedAfterMs : null,
    expiresAtMs: T0 + expiresAfterMs,
    retentionMs: kept,
  }));

/** The functions look at the lifetime only. */
const asJob = (given: Lifetime): Job => given as Job;

test('a job disappears at the earlier of TTL and retention', () => {
  fc.assert(
    fc.property(lifetime, (given) => {
      const atMs = disappearsAtMs(asJob(given));
      const keptUntilMs = given.endedAtMs === null ? Infinity : given.endedAtMs + given.retentionMs;
      expect(atMs).toBe(Math.min(given.expiresAtMs, keptUntilMs));
      expect(isGone(asJob(given), atMs - 1)).toBe(false);
      expect(isGone(asJob(given), atMs)).toBe(true);
    }),
  );
});

test('the broker keeps a record until it disappears, and not a second longer', () => {
  fc.assert(
    fc.property(lifetime, fc.nat(200_000), (given, afterMs) => {
      const nowMs = T0 + afterMs;
      const leftMs = disappearsAtMs(asJob(given)) - nowMs;
      const ttlMs = recordTtlMs(asJob(given), nowMs);
      expect(ttlMs % 1_000).toBe(0);
      expect(ttlMs).toBeGreaterThanOrEqual(Math.max(1_000, leftMs));
      expect(ttlMs).toBeLessThan(Math.max(1_001, leftMs + 1_000));
    }),
  );
});

test('what belongs to a record outlives it', () => {
  fc.assert(
    fc.property(lifetime, fc.nat(100_000), (given, afterMs) => {
      const nowMs = Math.min(T0 + afterMs, given.expiresAtMs);
      const recordEndsMs = nowMs + recordTtlMs(asJob(given), nowMs);
      expect(nowMs + attachmentTtlMs(asJob(given), nowMs)).toBeGreaterThanOrEqual(
        recordEndsMs + ATTACHMENT_SLACK_MS - 1_000,
      );
    }),
  );
});

describe('retention', () => {
  test.each([
    ['run', 90_000, 30 * 60_000],
    ['run', 300_000, 30 * 60_000],
    ['runsync', 1_000, 60_000],
    ['runsync', 90_000, 60_000],
    ['runsync', 90_001, 90_001],
    ['runsync', 300_000, 300_000],
  ] as const)('of %s with wait %d is %d ms', (origin, waitMs, expected) => {
    expect(retentionMs(origin, waitMs)).toBe(expected);
  });
});
