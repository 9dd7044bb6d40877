import type { EndpointId, JobId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { LARGE_BYTES, chooseDue, deliveryName } from './choose-due.js';
import type { PendingDelivery } from './pending-deliveries.port.js';

const NOW_MS = 1_000_000;
const LIMITS = { total: 5, perHost: 2, large: 1 };

const delivery = (jobId: string, more: Partial<PendingDelivery> = {}): PendingDelivery => ({
  endpointId: 'ep' as EndpointId,
  jobId: jobId as JobId,
  attempt: 1,
  dueAtMs: NOW_MS,
  createdAtMs: NOW_MS,
  host: jobId,
  sizeBytes: 10,
  ...more,
});

const chosen = (pending: readonly PendingDelivery[], underWay: readonly PendingDelivery[] = []): readonly string[] => {
  const named = new Map(underWay.map((each) => [deliveryName(each), each]));
  return chooseDue([...pending, ...underWay], named, { nowMs: NOW_MS, limits: LIMITS }).map(({ jobId }) => jobId);
};

describe('what is begun now', () => {
  test('what is due, the longest due first, and nothing that is under way', () => {
    const early = delivery('early', { dueAtMs: NOW_MS + 1 });
    const oldest = delivery('oldest', { dueAtMs: NOW_MS - 5 });
    expect(chosen([delivery('now'), early, oldest], [delivery('going')])).toEqual(['oldest', 'now']);
  });

  test('no more than the limit in all', () => {
    const many = ['a', 'b', 'c', 'd'].map((name) => delivery(name));
    expect(chosen(many, [delivery('e'), delivery('f')])).toHaveLength(3);
  });

  test('no more than its limit to one host, which holds up no other', () => {
    const slow = ['a', 'b', 'c'].map((name) => delivery(name, { host: 'slow', dueAtMs: NOW_MS - 9 }));
    expect(chosen([...slow, delivery('other')], [])).toEqual(['a', 'b', 'other']);
    expect(chosen([...slow.slice(2), delivery('other')], slow.slice(0, 2))).toEqual(['other']);
  });

  test('few large ones, which hold up no small one', () => {
    const large = ['a', 'b'].map((name) => delivery(name, { sizeBytes: LARGE_BYTES + 1, dueAtMs: NOW_MS - 9 }));
    expect(chosen([...large, delivery('small')])).toEqual(['a', 'small']);
  });
});
