import type { HostId } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { FakeCluster, NODE, RUNNING } from '../../../../test/fake-cluster.js';
import { NodeView } from './node-view.js';

const GIB = 2 ** 30;

let cluster: FakeCluster;
let clock: ManualClock;
let view: NodeView;

beforeEach(async () => {
  cluster = new FakeCluster();
  clock = new ManualClock();
  view = new NodeView({
    ...{ api: cluster, clock, logger: silentLogger, nodeName: 'node1', namespace: 'berth-workers' },
    hostId: 'host1' as HostId,
    facts: {
      ...{ vcpus: null, simulatedGpus: null, gpuType: null },
      reserve: { memoryBytes: null, diskBytes: null },
    },
    prepared: () => [],
  });
  await view.roomNow();
});

const GB_POD = { containers: [{ resources: { requests: { memory: '1Gi' } } }] };

const put = (name: string, namespace: string, labels: Readonly<Record<string, string>>): void => {
  cluster.put({ metadata: { name, uid: name, namespace, labels }, spec: GB_POD, status: RUNNING });
};

describe('Pods on the node', () => {
  test.each([
    [
      'of this host take nothing of its room',
      { namespace: 'berth-workers', labels: { 'berth.host': 'host1', 'berth.role': 'worker' }, gib: 32 },
    ],
    [
      'of another host take theirs',
      { namespace: 'berth-workers', labels: { 'berth.host': 'host2', 'berth.role': 'worker' }, gib: 31 },
    ],
    [
      'that say elsewhere that they are of this host take theirs',
      { namespace: 'others', labels: { 'berth.host': 'host1' }, gib: 31 },
    ],
    [
      'that say elsewhere that they hold a place take theirs',
      { namespace: 'others', labels: { 'berth.role': 'placeholder' }, gib: 31 },
    ],
    [
      'that hold a place for a worker take nothing',
      { namespace: 'berth-workers', labels: { 'berth.role': 'placeholder' }, gib: 32 },
    ],
  ])('%s', async (_, { gib, labels, namespace }) => {
    put('pod', namespace, labels);
    expect((await view.roomNow()).inventory.memoryBytes).toBe(gib * GIB);
  });

  test('make way only where they hold a place, and in the namespace of the workers', async () => {
    put('placeholder-e1-0', 'berth-workers', { 'berth.role': 'placeholder' });
    put('berth-w1', 'others', { 'berth.role': 'placeholder' });
    put('berth-w2', 'berth-workers', { 'berth.role': 'placeholder', 'berth.host': 'host1' });
    await view.roomNow();
    expect(view.placeholders.map(({ metadata }) => metadata.name)).toEqual(['placeholder-e1-0']);
  });
});

const cordon = (): void => {
  cluster.node = { ...NODE, spec: { unschedulable: true } };
};

describe('what is told of the node', () => {
  test('is what was seen last while the API is silent, however often it is asked for, and it is asked anew', async () => {
    cluster.isSilent = true;
    await clock.advance(120_000);
    cluster.asked.length = 0;
    for (let report = 0; report < 3; report += 1) {
      expect((await view.room()).inventory.memoryBytes).toBe(32 * GIB);
    }
    expect(cluster.asked).toEqual(['GET nodes/node1', 'GET pods']);
  });

  test('is what was seen last also while a start waits for what it has now', async () => {
    cluster.isSilent = true;
    void view.roomNow();
    expect((await view.room()).inventory.memoryBytes).toBe(32 * GIB);
  });

  test('is what was seen last where the API is away, until it answers again', async () => {
    cluster.isAway = true;
    cordon();
    await clock.advance(60_000);
    expect((await view.room()).isCordoned).toBe(false);
    await clock.advance(0);
    cluster.isAway = false;
    expect((await view.room()).isCordoned).toBe(false);
    await clock.advance(0);
    expect((await view.room()).isCordoned).toBe(true);
  });

  test('follows what changes, one answer late', async () => {
    cordon();
    await clock.advance(15_000);
    expect((await view.room()).isCordoned).toBe(false);
    await clock.advance(0);
    expect((await view.room()).isCordoned).toBe(true);
  });

  test('is as it is now for who is about to start something', async () => {
    cordon();
    expect((await view.roomNow()).isCordoned).toBe(true);
  });
});
