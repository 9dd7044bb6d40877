import { describe, expect, test } from '@jest/globals';
import { RESUMED_IDS_MAX } from './host-messages.js';
import { readHostReply, readWakeMessage } from './read-host-reply.js';

const worker = (workerId: string, more: object = {}): object => ({
  workerId,
  endpointId: 'e',
  release: 1,
  intent: 'running',
  container: { image: 'i', args: '', diskGb: null, env: { A: '1' }, ports: ['80/http'], registryId: null },
  resources: { vcpus: 0.5, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 },
  endpointType: 'QUEUE',
  executionTimeoutMs: 300_000,
  restarts: 0,
  ...more,
});

const read = (desired: unknown): unknown => readHostReply({ desired, dataCenterId: 'EU-1' });

describe('a reply to a host', () => {
  test('that is whole is taken as it is', () => {
    const dropped = { count: 1, examples: [{ member: 'workers[0]', reason: 'phase' }] };
    const more = { registryCredentials: { username: 'u', password: 'p' }, leavesAfterIdleMs: 5, unopenable: 'why' };
    const desired = [worker('a'), worker('b', more)];
    expect(readHostReply({ desired, dataCenterId: 'EU-1', dropped })).toEqual({
      kind: 'value',
      value: { desired, dataCenterId: 'EU-1', dropped, heldIds: [], isComplete: true, faults: [] },
    });
  });

  test.each([null, undefined, 5, 'desired', [], {}, { desired: null }, { desired: {} }, { desired: 'w' }])(
    '%j says of no worker what shall become of it, and is refused whole',
    (body) => {
      const reply = typeof body === 'object' && body !== null ? { dataCenterId: 'EU-1', ...body } : body;
      expect(readHostReply(reply)).toMatchObject({ kind: 'unreadable' });
    },
  );

  test('of more workers than a host can have is refused whole', () => {
    expect(read(Array.from({ length: 5_000 }, () => null))).toMatchObject({ kind: 'unreadable' });
  });

  test.each<[string, object]>([
    ['without resources', { resources: undefined }],
    ['whose resources are null', { resources: null }],
    ['without a container', { container: null }],
    ['whose variables are a number', { container: { image: 'i', env: 5 } }],
    ['with an intent that there is not', { intent: 'haunt' }],
    ['with a release that is no number', { release: '1' }],
  ])('keeps every other worker beside an entry %s, and that one as it is', (_, more) => {
    expect(read([worker('bad', more), worker('good')])).toMatchObject({
      kind: 'value',
      value: { desired: [worker('good')], heldIds: ['bad'], isComplete: true, faults: [expect.any(String)] },
    });
  });

  test.each([null, 5, 'w', {}, { workerId: 7 }, { workerId: '../x' }])(
    'keeps every other worker beside %j, and does not count as complete',
    (entry) => {
      expect(read([entry, worker('good')])).toMatchObject({
        kind: 'value',
        value: { desired: [worker('good')], heldIds: [], isComplete: false },
      });
    },
  );

  test('says what is wrong without the value of a variable', () => {
    const container = { image: 'i', args: '', diskGb: null, env: { SECRET: ['hidden'] }, ports: [], registryId: null };
    const reading = JSON.stringify(read([worker('bad', { container })]));
    expect(reading).toContain('$.desired[0].container.env');
    expect(reading).not.toMatch(/hidden|SECRET/);
  });
});

describe('a wake', () => {
  test('names the workers that run again, as far as it can be read', () => {
    expect(readWakeMessage({ resumedIds: ['w1', null, 5, '', {}, 'w2'] })).toEqual({ resumedIds: ['w1', 'w2'] });
  });

  test.each([undefined, null, '', 5, [], {}, { resumedIds: null }, { resumedIds: 'w1' }])(
    'of %j names none',
    (body) => {
      expect(readWakeMessage(body)).toEqual({ resumedIds: [] });
    },
  );

  test('says that it is all only where it could be read whole', () => {
    expect(readWakeMessage({ resumedIds: ['w1'], isAll: true })).toEqual({ resumedIds: ['w1'], isAll: true });
    expect(readWakeMessage({ resumedIds: ['w1', 5], isAll: true })).toEqual({ resumedIds: ['w1'] });
    expect(readWakeMessage({ isAll: true })).toEqual({ resumedIds: [] });
    expect(readWakeMessage({ resumedIds: ['w1'], isAll: 'yes' })).toEqual({ resumedIds: ['w1'] });
  });

  test('names no more than there may be', () => {
    const resumedIds = Array.from({ length: RESUMED_IDS_MAX + 1 }, (_, index) => `w${index}`);
    expect(readWakeMessage({ resumedIds }).resumedIds).toHaveLength(RESUMED_IDS_MAX);
  });
});
