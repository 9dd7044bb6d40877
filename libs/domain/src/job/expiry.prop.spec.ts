import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ATTACHMENT_SLACK_MS, attachmentTtlMs, disappearsAtMs, type Lifetime } from './expiry.js';
import { JOB_STATES, isEnded } from './job-state.js';
import { TTL_MAX_MS, retentionMs } from './policy.js';

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
    endedAtMs: isEnded(state) ? T0 + endedAfterMs : null,
    expiresAtMs: T0 + expiresAfterMs,
    retentionMs: kept,
  }));

test('a job disappears at the earlier of TTL and retention', () => {
  fc.assert(
    fc.property(lifetime, (given) => {
      const keptUntilMs = given.endedAtMs === null ? Infinity : given.endedAtMs + given.retentionMs;
      expect(disappearsAtMs(given)).toBe(Math.min(given.expiresAtMs, keptUntilMs));
    }),
  );
});

test('what lies beside a log outlives every job of its age, and is kept for whole seconds', () => {
  fc.assert(
    fc.property(fc.nat(TTL_MAX_MS), (afterMs) => {
      const nowMs = T0 + afterMs;
      const ttlMs = attachmentTtlMs({ createdAtMs: T0 }, nowMs);
      expect(ttlMs % 1_000).toBe(0);
      expect(nowMs + ttlMs).toBeGreaterThanOrEqual(T0 + TTL_MAX_MS + ATTACHMENT_SLACK_MS);
      expect(nowMs + ttlMs).toBeLessThan(T0 + TTL_MAX_MS + ATTACHMENT_SLACK_MS + 1_000);
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
