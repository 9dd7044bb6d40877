import { ACCOUNT_LIMITS_DEFAULT, effectiveLimits } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { readShape } from '@berth/domain/shape';
import { assignmentSnapshotShape, endpointSnapshotShape } from './snapshot-shapes.js';
import type { AssignmentSnapshot, EndpointSnapshot } from './snapshots.js';

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
    ['a list', [], '$.limits must be an object'],
    ['null', null, '$.limits must be an object'],
    ['a text', { chunkBytes: '1' }, '$.limits.chunkBytes must be a whole number from 0 on'],
    ['a fraction', { chunkBytes: 1.5 }, '$.limits.chunkBytes must be a whole number from 0 on'],
    ['less than nothing', { chunkBytes: -1 }, '$.limits.chunkBytes must be a whole number from 0 on'],
    ['null for one', { chunkBytes: null }, '$.limits.chunkBytes must be a whole number from 0 on'],
  ])('cannot be read where they are %s', (_what, limits, reason) => {
    expect(read(limits)).toEqual({ kind: 'unreadable', reason });
  });
});

describe('an assignment', () => {
  const worker = { id: 'w1', hostId: 'h1', phase: 'idle', isDraining: false };
  const readWorkers = (workers: readonly unknown[], more: object = {}) =>
    readShape<AssignmentSnapshot>(assignmentSnapshotShape.shape, { endpointId: 'e1', workers, ...more });

  test.each([
    ['before ports and slots were told', worker, {}],
    ['with them', { ...worker, port: 8080, healthPort: 80 }, { slotsPerWorker: 4 }],
    ['by a later version', { ...worker, any: 'value' }, { ofALaterVersion: true }],
  ])('is read that was written %s', (_when, each, more) => {
    expect(readWorkers([each], more)).toEqual({ kind: 'value', value: { endpointId: 'e1', workers: [each], ...more } });
  });

  test.each([
    ['a port', readWorkers([{ ...worker, port: '80' }]), '$.workers[0].port must be an integer from 1 to 65535'],
    ['port 0', readWorkers([{ ...worker, port: 0 }]), '$.workers[0].port must be an integer from 1 to 65535'],
    ['port 65536', readWorkers([{ ...worker, port: 65_536 }]), '$.workers[0].port must be an integer from 1 to 65535'],
    [
      'a health port',
      readWorkers([{ ...worker, healthPort: null }]),
      '$.workers[0].healthPort must be an integer from 1 to 65535',
    ],
    ['slots', readWorkers([worker], { slotsPerWorker: 0.5 }), '$.slotsPerWorker must be a whole number from 0 on'],
  ])('cannot be read where %s is none', (_what, reading, reason) => {
    expect(reading).toEqual({ kind: 'unreadable', reason });
  });
});
