import type { ToldDelivery } from '@berth/contracts';
import type { DeliveryTry, JobId } from '@berth/domain';
import { expect, test } from '@jest/globals';
import { deliveryBody } from './delivery-body.js';

const NOW_MS = Date.UTC(2026, 0, 1, 12);
const URL_TEXT = 'https://hooks.example/end';

const refused: DeliveryTry = { atMs: NOW_MS - 9_000, durationMs: 40, statusCode: 500, error: 'answered 500' };
const accepted: DeliveryTry = { atMs: NOW_MS - 1_000, durationMs: 30, statusCode: 200, error: null };
const underWay: DeliveryTry = { atMs: NOW_MS - 700, durationMs: null, statusCode: null, error: null };

const told = (more: Partial<ToldDelivery>): ToldDelivery => ({
  jobId: 'job' as JobId,
  attempt: 1,
  url: URL_TEXT,
  tries: [refused],
  nextAtMs: NOW_MS + 1_000,
  outcome: null,
  isClaimed: false,
  ...more,
});

const OF_REFUSED = { at: '2026-01-01T11:59:51.000Z', statusCode: 500, error: 'answered 500', durationMs: 40 };

test.each<[string, Partial<ToldDelivery>, object]>([
  [
    'what was tried, and when it is tried again',
    {},
    { status: 'pending', attempts: [OF_REFUSED], nextAttemptAt: '2026-01-01T12:00:01.000Z' },
  ],
  [
    'what is under way: neither an answer nor an error, and nothing follows yet',
    { tries: [underWay], isClaimed: true },
    { status: 'pending', attempts: [{ at: '2026-01-01T11:59:59.300Z', durationMs: 700 }] },
  ],
  [
    'how it ended',
    { tries: [refused, accepted], outcome: 'delivered' },
    {
      status: 'delivered',
      attempts: [OF_REFUSED, { at: '2026-01-01T11:59:59.000Z', statusCode: 200, durationMs: 30 }],
    },
  ],
  ['that it was given up', { outcome: 'failed' }, { status: 'failed', attempts: [OF_REFUSED] }],
])('the log says %s', (_, delivery, said) => {
  expect(deliveryBody(told(delivery), NOW_MS)).toEqual({ id: 'msg_job_1', url: URL_TEXT, ...said });
});
