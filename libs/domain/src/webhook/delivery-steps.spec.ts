import { describe, expect, test } from '@jest/globals';
import type { EndpointId, JobId } from '../ids.js';
import type { Job } from '../job/index.js';
import type { Delivery } from './delivery.js';
import {
  CLAIM_MS,
  DELIVERY_MADE_WITHIN_MS,
  TRY_INTERVAL_MS,
  claimTry,
  deliveryDueAtMs,
  deliveryTtlMs,
  settleTry,
} from './delivery-steps.js';

const NOW_MS = 1_750_000_000_000;
const success = { isSuccess: true, statusCode: 200, error: null };
const failure = { isSuccess: false, statusCode: 500, error: 'answered 500' };

const pending = (): Delivery => ({
  endpointId: 'ep' as EndpointId,
  jobId: 'job' as JobId,
  attempt: 1,
  url: 'https://example.com',
  createdAtMs: NOW_MS,
  job: { id: 'job' } as Job,
  tries: [],
  nextAtMs: NOW_MS,
  claim: null,
  outcome: null,
});

const claimed = (delivery: Delivery, token: string, nowMs: number): Delivery => {
  const verdict = claimTry(delivery, token, nowMs);
  if (verdict.kind !== 'claimed') throw new Error(`${token}: ${verdict.kind}`);
  return verdict.delivery;
};

describe('a delivery', () => {
  test('is due at once, and from its claim on only when the claim is over', () => {
    expect(deliveryDueAtMs(pending())).toBe(NOW_MS);
    const delivery = claimed(pending(), 'a', NOW_MS);
    expect(delivery.tries).toEqual([{ atMs: NOW_MS, durationMs: null, statusCode: null, error: null }]);
    expect(claimTry(delivery, 'b', NOW_MS + CLAIM_MS - 1)).toEqual({ kind: 'not-due' });
    expect(claimTry(delivery, 'b', NOW_MS + CLAIM_MS).kind).toBe('claimed');
  });

  test('is over with the first success, without the job', () => {
    const over = settleTry(claimed(pending(), 'a', NOW_MS), { token: 'a', result: success, fraction: 0 }, NOW_MS + 30);
    expect(over).toMatchObject({ outcome: 'delivered', job: null, claim: null });
    expect(over?.tries).toEqual([{ atMs: NOW_MS, durationMs: 30, statusCode: 200, error: null }]);
    expect(deliveryDueAtMs(over as Delivery)).toBeNull();
    expect(claimTry(over as Delivery, 'b', NOW_MS + 1e9)).toEqual({ kind: 'not-due' });
  });

  test('is tried again ten seconds after a failure, twice, and has failed then', () => {
    let delivery = pending();
    let nowMs = NOW_MS;
    for (const left of [2, 1, 0]) {
      delivery = claimed(delivery, `t${left}`, nowMs);
      nowMs += 100;
      delivery = settleTry(delivery, { token: `t${left}`, result: failure, fraction: 0 }, nowMs) as Delivery;
      if (left === 0) break;
      expect(delivery.nextAtMs - nowMs).toBe(TRY_INTERVAL_MS);
      expect(claimTry(delivery, 'early', delivery.nextAtMs - 1).kind).toBe('not-due');
      nowMs = delivery.nextAtMs;
    }
    expect(delivery).toMatchObject({ outcome: 'failed', job: null });
    expect(delivery.tries).toHaveLength(3);
  });

  test('a try whose sender went away counts, and says so', () => {
    const again = claimed(claimed(pending(), 'a', NOW_MS), 'b', NOW_MS + CLAIM_MS);
    expect(again.tries[0]).toEqual({
      atMs: NOW_MS,
      durationMs: CLAIM_MS,
      statusCode: null,
      error: expect.stringMatching(/^interrupted/),
    });
    const third = claimed(again, 'c', NOW_MS + 2 * CLAIM_MS);
    const verdict = claimTry(third, 'd', NOW_MS + 3 * CLAIM_MS);
    expect(verdict).toMatchObject({ kind: 'used-up', delivery: { outcome: 'failed', claim: null, job: null } });
  });

  test('only the present claim says how it ended', () => {
    const lost = claimed(pending(), 'a', NOW_MS);
    const other = claimed(lost, 'b', NOW_MS + CLAIM_MS);
    expect(settleTry(other, { token: 'a', result: success, fraction: 0 }, NOW_MS + CLAIM_MS)).toBeNull();
    const over = settleTry(other, { token: 'b', result: success, fraction: 0 }, NOW_MS + CLAIM_MS) as Delivery;
    expect(settleTry(over, { token: 'b', result: failure, fraction: 0 }, NOW_MS + CLAIM_MS)).toBeNull();
  });
});

describe('the life of the record', () => {
  test('a log is kept for a day, and for an hour where room is scarce; what is pending always for a day', () => {
    const day = 24 * 3_600_000;
    expect(deliveryTtlMs({ outcome: 'delivered' }, 0.2)).toBe(day);
    expect(deliveryTtlMs({ outcome: 'failed' }, 0.6)).toBe(3_600_000);
    expect(deliveryTtlMs({ outcome: null }, 0.99)).toBe(day);
  });

  test('a delivery is never made so late that its record may have gone already', () => {
    expect(DELIVERY_MADE_WITHIN_MS).toBeLessThan(deliveryTtlMs({ outcome: 'delivered' }, 1));
  });
});
