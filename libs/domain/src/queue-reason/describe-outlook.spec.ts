import { describe, expect, test } from '@jest/globals';
import type { EndpointId, HostId, WorkerId } from '../ids.js';
import type { ObservedWorker, Worker, WorkerPhase } from '../worker/index.js';
import { OUTLOOK_PROGRESS_INTERVAL_MS, describeOutlook, type OutlookFacts } from './describe-outlook.js';
import { OUTLOOK_HOSTS_MAX, OUTLOOK_TEXT_MAX, OUTLOOK_WORKERS_MAX } from './endpoint-outlook.js';

const NOW = 1_000_000;

const worker = (id: string, observed: Partial<ObservedWorker> | null, intent: Worker['intent'] = 'running'): Worker => {
  const identity = { endpointId: 'e' as EndpointId, release: 1 };
  const full = { phase: 'preparing', reason: 'why', runningJobs: 0, failedStarts: 0, phaseSinceMs: NOW - 10 } as const;
  const none = { startedAtMs: null, gpuTypeId: null };
  const resources = { vcpus: 1, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };
  return {
    ...identity,
    id: id as WorkerId,
    hostId: 'h' as HostId,
    intent,
    createdAtMs: NOW - 20,
    resources,
    observed: observed === null ? null : { ...identity, ...full, ...none, workerId: id as WorkerId, ...observed },
  };
};

const facts = (...workers: readonly Worker[]): OutlookFacts => ({
  desired: 1,
  scalingReason: 'demand',
  workers,
  unplaced: null,
  previous: null,
});

const only = (observed: Partial<ObservedWorker> | null) => describeOutlook(facts(worker('w', observed)), NOW).coming[0];

describe('a worker that takes no job yet', () => {
  test.each<[string, Partial<ObservedWorker> | null, string, string]>([
    ['not reported', null, 'placed', 'worker-starting'],
    ['image on its way', { phase: 'preparing' }, 'preparing', 'worker-starting'],
    ['container on its way', { phase: 'starting' }, 'starting', 'worker-starting'],
    ['container runs', { phase: 'starting', startedAtMs: NOW }, 'initialising', 'worker-starting'],
    ['another container follows', { phase: 'draining' }, 'replaced', 'worker-starting'],
    ['its agent has not heard yet', { phase: 'waiting' }, 'placed', 'worker-starting'],
    ['its container failed', { phase: 'waiting', failedStarts: 1, failure: 'container' }, 'delayed', 'worker-starting'],
    ['it failed, an older agent says', { phase: 'waiting', failedStarts: 1 }, 'delayed', 'worker-starting'],
    ['its host has no room', { phase: 'waiting', failedStarts: 1, lacksRoom: true }, 'delayed', 'throttled'],
    [
      'its host has had none for long',
      { phase: 'unhealthy', failedStarts: 9, lacksRoom: true },
      'unhealthy',
      'throttled',
    ],
    ['its image failed', { phase: 'waiting', failedStarts: 1, failure: 'image' }, 'delayed', 'image-error'],
    ['its image is tried again', { phase: 'preparing', failedStarts: 1, failure: 'image' }, 'preparing', 'image-error'],
    [
      'its image comes after all',
      { failedStarts: 1, failure: 'image', imagePercent: 3 },
      'preparing',
      'worker-starting',
    ],
    ['it starts again', { phase: 'starting', failedStarts: 1, failure: 'container' }, 'starting', 'worker-starting'],
    ['it fails always', { phase: 'unhealthy', failedStarts: 5, failure: 'container' }, 'unhealthy', 'image-error'],
  ])('%s', (...[, observed, stage, reason]) => {
    expect(only(observed)).toMatchObject({ stage, reason });
  });

  test.each<WorkerPhase>(['idle', 'busy', 'removed'])('is not one that is %s', (phase) => {
    expect(only({ phase })).toBeUndefined();
  });

  test('is not one that was told to leave', () => {
    expect(describeOutlook(facts(worker('w', null, 'drained')), NOW).coming).toEqual([]);
  });

  test('says what its agent says, and when the next start is', () => {
    expect(only({ phase: 'waiting', failedStarts: 1, nextStartAtMs: NOW + 5 })).toEqual({
      id: 'w',
      stage: 'delayed',
      reason: 'worker-starting',
      detail: 'why',
      nextStartAtMs: NOW + 5,
      sinceMs: NOW - 10,
      toldAtMs: NOW,
    });
    expect(only(null)).toMatchObject({ detail: 'its host has not reported it yet', sinceMs: NOW - 20 });
  });
});

test('the nearest to its first job come first, and only a few are told', () => {
  const failing = Array.from({ length: 9 }, (_, n) => worker(`f${n}`, { phase: 'unhealthy', reason: 'x'.repeat(999) }));
  const { coming } = describeOutlook(
    facts(...failing, worker('b', { phase: 'starting' }), worker('a', { phase: 'preparing' })),
    NOW,
  );
  expect(coming.map(({ id }) => id)).toEqual(['b', 'a', 'f0', 'f1', 'f2']);
  expect(coming).toHaveLength(OUTLOOK_WORKERS_MAX);
  expect(coming.at(-1)?.detail).toHaveLength(OUTLOOK_TEXT_MAX);
});

test('hosts that were refused are told with the filter, the first few', () => {
  const hosts = Array.from({ length: 20 }, (_, n) => ({
    id: `h${n}` as HostId,
    reason: 'vcpu' as const,
    detail: 'small',
  }));
  const why = { kind: 'unplaced', reason: 'vcpu', detail: '20 hosts were looked at', hosts } as const;
  const outlook = describeOutlook({ ...facts(), unplaced: { count: 3, sinceMs: 7, why } }, NOW);
  expect(outlook.unplaced).toMatchObject({ count: 3, reason: 'vcpu', sinceMs: 7 });
  expect(outlook.unplaced?.hosts).toEqual(hosts.slice(0, OUTLOOK_HOSTS_MAX));
});

test('a release that does not come up is told, with its last failure and since when', () => {
  const starts = { release: 2, hasBeenUp: false, failedStarts: 6, lastFailure: 'exit code 3', counted: {} };
  const outlookWith = (loopingSinceMs: number | null) =>
    describeOutlook({ ...facts(), starts: { ...starts, loopingSinceMs } }, NOW);
  expect(outlookWith(null)).not.toHaveProperty('crashLoop');
  expect(outlookWith(NOW - 5).crashLoop).toEqual({
    detail: 'release 2 does not come up, 6 starts have failed and one worker goes on trying; the last: exit code 3',
    sinceMs: NOW - 5,
  });
});

test('what holds a start up is told at once, and no longer than it does', () => {
  const starting = (reason: string) => worker('w', { phase: 'starting', reason, phaseSinceMs: NOW - 10 });
  const heldUp = 'the container is being started; its node has not begun with it: FailedMount: no such folder';
  const before = describeOutlook(facts(starting('the container is being started')), NOW);
  const during = describeOutlook({ ...facts(starting(heldUp)), previous: before }, NOW + 1);
  expect(during.coming[0]).toMatchObject({ reason: 'worker-starting', detail: heldUp, sinceMs: NOW - 10 });
  const after = describeOutlook({ ...facts(starting('the container is being started')), previous: during }, NOW + 2);
  expect(after.coming[0]?.detail).toBe('the container is being started');
});

describe('what was told before', () => {
  const LATER = NOW + OUTLOOK_PROGRESS_INTERVAL_MS - 1;
  const pulling = (percent: number) =>
    worker('w', { reason: `pulled, ${percent} %`, imagePercent: percent, phaseSinceMs: NOW - 10 });
  const first = describeOutlook(facts(pulling(1)), NOW);

  test('is said again to the letter while nothing has changed', () => {
    expect(describeOutlook({ ...facts(pulling(1)), previous: first }, LATER + 60_000)).toEqual(first);
  });

  test('holds for progress within an interval, and not longer', () => {
    expect(describeOutlook({ ...facts(pulling(9)), previous: first }, LATER)).toEqual(first);
    const next = describeOutlook({ ...facts(pulling(9)), previous: first }, LATER + 1);
    expect(next.coming[0]).toMatchObject({ detail: 'pulled, 9 %', sinceMs: NOW - 10, toldAtMs: LATER + 1 });
  });

  test('holds for no other change', () => {
    const started = worker('w', { phase: 'starting', phaseSinceMs: LATER });
    const next = describeOutlook({ ...facts(started), previous: first }, LATER);
    expect(next.coming[0]).toMatchObject({ stage: 'starting', reason: 'worker-starting', sinceMs: NOW - 10 });
  });

  test('gives a reason its first instant', () => {
    const failed = (failedStarts: number, atMs: number) =>
      worker('w', { phase: 'waiting', failedStarts, failure: 'image', phaseSinceMs: atMs, reason: `${failedStarts}` });
    const once = describeOutlook({ ...facts(failed(1, LATER)), previous: first }, LATER);
    expect(once.coming[0]).toMatchObject({ reason: 'image-error', sinceMs: LATER });
    const twice = describeOutlook({ ...facts(failed(2, LATER + 99)), previous: once }, LATER + 99);
    expect(twice.coming[0]).toMatchObject({ reason: 'image-error', detail: '2', sinceMs: LATER });
    expect(twice.scaling).toEqual(first.scaling);
    const atMax = describeOutlook({ ...facts(), scalingReason: 'at-max', previous: once }, LATER + 99);
    expect(atMax.scaling).toEqual({ reason: 'at-max', sinceMs: LATER + 99 });
  });
});
