import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EndpointId, JobId } from '../ids.js';
import type { Delivery } from './delivery.js';
import { TRIES_MAX, TRY_INTERVAL_MS, claimTry, settleTry } from './delivery-steps.js';

const START: Delivery = {
  endpointId: 'ep' as EndpointId,
  jobId: 'job' as JobId,
  attempt: 1,
  url: 'https://example.com',
  createdAtMs: 0,
  job: null,
  tries: [],
  nextAtMs: 0,
  claim: null,
  outcome: null,
};

/** What any sender may do, in any order and with any word: one may claim, or tell of a claim that it once had. */
const step = fc.record({
  waitMs: fc.integer({ min: 0, max: 40_000 }),
  sender: fc.integer({ min: 0, max: 2 }),
  does: fc.constantFrom('claim', 'succeed', 'fail'),
  fraction: fc.double({ min: 0, max: 0.999, noNaN: true }),
});

test('whatever senders do: three tries at most, none after a success, ten seconds between a failure and the next', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let delivery = START;
      let nowMs = 0;
      let claims = 0;
      let failedAtMs: number | null = null;
      const tokens = new Map<number, string>();
      for (const { waitMs, sender, does, fraction } of steps) {
        nowMs += waitMs;
        if (does === 'claim') {
          const verdict = claimTry(delivery, `${sender}-${nowMs}`, nowMs);
          if (verdict.kind === 'not-due') continue;
          expect(delivery.outcome).toBeNull();
          if (verdict.kind === 'claimed') {
            claims += 1;
            tokens.set(sender, `${sender}-${nowMs}`);
            if (failedAtMs !== null) expect(nowMs - failedAtMs).toBeGreaterThanOrEqual(TRY_INTERVAL_MS);
          }
          delivery = verdict.delivery;
          continue;
        }
        const token = tokens.get(sender);
        if (token === undefined) continue;
        const result = { isSuccess: does === 'succeed', statusCode: null, error: null };
        const settled = settleTry(delivery, { token, result, fraction }, nowMs);
        if (settled === null) continue;
        failedAtMs = nowMs;
        delivery = settled;
      }
      expect(claims).toBeLessThanOrEqual(TRIES_MAX);
      expect(delivery.tries).toHaveLength(claims);
      expect(delivery.tries.filter(({ durationMs }) => durationMs === null).length).toBeLessThanOrEqual(1);
    }),
  );
});
