import { ACCOUNT_LIMITS_DEFAULT, effectiveLimits } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { readShape } from '../shape/index.js';
import { endpointSnapshotShape } from './snapshot-shapes.js';
import type { EndpointSnapshot } from './snapshots.js';

const OLD = {
  id: 'e1',
  accountId: 'a1',
  type: 'QUEUE',
  executionTimeoutMs: 300_000,
  workersMax: 3,
  isDeleted: false,
} as const;

const read = (limits?: unknown) => {
  const body: unknown = JSON.parse(JSON.stringify({ ...OLD, limits }));
  return readShape<EndpointSnapshot>(endpointSnapshotShape.shape, body);
};

const limitsIn = (limits?: unknown) => {
  const reading = read(limits);
  return reading.kind === 'value' ? effectiveLimits(reading.value.limits ?? {}) : reading;
};

describe('the limits in the snapshot of an endpoint', () => {
  test('are the defaults in a snapshot that was written without them', () => {
    expect(limitsIn()).toEqual(ACCOUNT_LIMITS_DEFAULT);
  });

  test('are the defaults but for those that were set', () => {
    expect(limitsIn({})).toEqual(ACCOUNT_LIMITS_DEFAULT);
    expect(limitsIn({ jobsPerEndpoint: 7 })).toEqual({ ...ACCOUNT_LIMITS_DEFAULT, jobsPerEndpoint: 7 });
  });

  test('may be more than this version knows', () => {
    expect(limitsIn({ endpoints: 7, ofALaterVersion: { any: 'value' } })).toEqual({
      ...ACCOUNT_LIMITS_DEFAULT,
      endpoints: 7,
    });
  });

  test.each([
    ['a list', [], '$.limits is no object'],
    ['null', null, '$.limits is no object'],
    ['a text', { chunkBytes: '1' }, '$.limits.chunkBytes is no count'],
    ['a fraction', { chunkBytes: 1.5 }, '$.limits.chunkBytes is no count'],
    ['less than nothing', { chunkBytes: -1 }, '$.limits.chunkBytes is no count'],
    ['null for one', { chunkBytes: null }, '$.limits.chunkBytes is no count'],
  ])('cannot be read where they are %s', (_what, limits, reason) => {
    expect(read(limits)).toEqual({ kind: 'unreadable', reason });
  });
});
