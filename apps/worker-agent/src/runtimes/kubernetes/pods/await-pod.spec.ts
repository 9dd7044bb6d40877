import { ManualClock, letRun } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { FakeCluster } from '../../../../test/fake-cluster.js';
import { RuntimeError } from '../../runtime-error.js';
import type { EventObject, PodObject, PodReport } from '../api/kube-objects.js';
import { awaitPod } from './await-pod.js';
import { KnownPods } from './known-pods.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOT_MADE: PodReport = {
  phase: 'Pending',
  conditions: [{ type: 'PodReadyToStartContainers', status: 'False' }],
  containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }],
};
const MADE: PodReport = { ...NOT_MADE, conditions: [{ type: 'PodReadyToStartContainers', status: 'True' }] };
const OF_AN_OLD_KUBELET: PodReport = { ...NOT_MADE, conditions: [] };
const NO_MOUNT: EventObject = {
  reason: 'FailedMount',
  message: 'no such folder',
  lastTimestamp: '2026-06-01T12:00:00Z',
};
const NO_SANDBOX: EventObject = {
  reason: 'FailedCreatePodSandBox',
  message: 'no network',
  eventTime: '2026-06-01T12:05:00Z',
};

let clock: ManualClock;
let cluster: FakeCluster;
let pods: KnownPods;
let told: (string | null)[];
let found: string | null;

beforeEach(() => {
  clock = new ManualClock();
  cluster = new FakeCluster();
  pods = new KnownPods();
  told = [];
  found = null;
});

const podWith = (status?: PodReport): PodObject => ({
  metadata: { name: 'berth-w1', uid: 'u1' },
  ...(status === undefined ? {} : { status }),
});

interface Waiting {
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

function begin(
  status?: PodReport,
  { deadlineMs = HOUR_MS, signal }: Waiting = {},
): Promise<string | RuntimeError | null> {
  pods.put(podWith(status));
  return awaitPod(() => found, {
    ...{ api: cluster, clock, pods, namespace: 'berth-workers', name: 'berth-w1', deadlineMs, signal },
    onHeldUp: (reason) => told.push(reason),
  });
}

async function pass(ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 5_000) {
    await clock.advance(5_000);
    await letRun();
  }
}

describe('a Pod that its node does not begin with', () => {
  test('is told with what its kubelet complains of, once for each complaint', async () => {
    cluster.warnings = () => [NO_MOUNT];
    const awaited = begin(NOT_MADE);
    await pass(20_000);
    expect(told).toEqual(['its node has not begun with it: FailedMount: no such folder']);
    cluster.warnings = () => [NO_MOUNT, NO_SANDBOX];
    await pass(20_000);
    expect(told.slice(1)).toEqual(['its node has not begun with it: FailedCreatePodSandBox: no network']);
    found = 'started';
    pods.put(podWith(MADE));
    expect(await awaited).toBe('started');
  });

  test('is told to be held up no more as soon as its node begins, and anew when that makes it once more', async () => {
    cluster.warnings = () => [NO_MOUNT];
    const awaited = begin(NOT_MADE);
    await pass(5_000);
    pods.put(podWith(MADE));
    expect(told.slice(1)).toEqual([null]);
    pods.put(podWith(NOT_MADE));
    await pass(5_000);
    expect(told.slice(2)).toEqual(told.slice(0, 1));
    found = 'started';
    pods.put(podWith(MADE));
    expect(await awaited).toBe('started');
  });

  test.each([HOUR_MS, 10 * MINUTE_MS])('fails after ten minutes, with the last complaint', async (deadlineMs) => {
    cluster.warnings = () => [NO_MOUNT];
    const awaited = begin(NOT_MADE, { deadlineMs });
    await pass(9 * MINUTE_MS);
    cluster.warnings = () => [];
    await pass(MINUTE_MS);
    expect(await awaited).toMatchObject({
      reason: 'runtime-unavailable',
      message: 'Its node has not begun with it within 10 minutes: FailedMount: no such folder',
    });
  });

  test.each([{ warnings: undefined }, { warnings: (): readonly EventObject[] => [{}] }])(
    'fails so, too, where the cluster does not say why, or says nothing in it',
    async ({ warnings }) => {
      cluster.warnings = warnings;
      const awaited = begin();
      await pass(10 * MINUTE_MS);
      const end = await awaited;
      expect(end).toBeInstanceOf(RuntimeError);
      expect(String(end)).toContain('within 10 minutes: ');
    },
  );
});

describe('a Pod that its node has begun with', () => {
  test.each([MADE, OF_AN_OLD_KUBELET])('is waited for to the end, whatever it was complained of', async (status) => {
    cluster.warnings = () => [NO_MOUNT];
    const awaited = begin(status);
    await pass(HOUR_MS);
    expect(await awaited).toBeNull();
    expect(told).toEqual([]);
  });
});

test('nobody waits any more once the signal aborts, and the cluster is not asked again', async () => {
  const stopping = new AbortController();
  const awaited = begin(NOT_MADE, { signal: stopping.signal });
  await pass(5_000);
  stopping.abort();
  expect(await awaited).toBeNull();
  const asked = cluster.asked.length;
  await pass(MINUTE_MS);
  expect(cluster.asked).toHaveLength(asked);
});
