import type { EndpointId, HostId, JobId, JobState } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import type { JobSighting } from './job-sighting.js';
import { JobView } from './job-view.service.js';

const T = 1_750_000_000_000;
const EP = 'ep' as EndpointId;

let sequence = 0;
const sighting = (name: string, state: JobState, more: Partial<JobSighting> = {}): JobSighting => {
  sequence += 1;
  return {
    endpointId: EP,
    jobId: name as JobId,
    recordSequence: sequence,
    state,
    attempt: 1,
    charged: 0,
    notBeforeMs: T,
    isLowPriority: false,
    hasWebhook: false,
    createdAtMs: T,
    queuedAtMs: T,
    startedAtMs: state === 'IN_QUEUE' ? null : T + 100,
    deadlineAtMs: state === 'IN_QUEUE' ? null : T + 60_000,
    endedAtMs: state === 'IN_QUEUE' || state === 'IN_PROGRESS' ? null : T + 300,
    expiresAtMs: T + 3_600_000,
    hostId: state === 'IN_QUEUE' ? null : ('host' as HostId),
    token: state === 'IN_QUEUE' ? null : 'token',
    ...more,
  };
};

const viewOf = (...sightings: readonly JobSighting[]): JobView => {
  const view = new JobView();
  for (const each of sightings) view.apply(each);
  return view;
};

describe('the view of jobs', () => {
  test('a job is counted where it stands, and once when it has ended', () => {
    const view = viewOf(sighting('a', 'IN_QUEUE'), sighting('b', 'IN_QUEUE'), sighting('a', 'IN_PROGRESS'));
    expect(view.counts(EP)).toMatchObject({ inQueue: 1, inProgress: 1, completed: 0 });
    const ended = sighting('a', 'COMPLETED');
    view.apply(ended);
    view.apply(ended);
    view.apply(sighting('a', 'COMPLETED'));
    expect(view.counts(EP)).toMatchObject({ inQueue: 1, inProgress: 0, completed: 1, retried: 0 });
  });

  test('requeues are counted by the attempt, even where versions in between were never seen', () => {
    const view = viewOf(sighting('a', 'IN_QUEUE'), sighting('a', 'IN_PROGRESS', { attempt: 3 }));
    expect(view.counts(EP).retried).toBe(2);
    view.apply(sighting('a', 'FAILED', { attempt: 3 }));
    view.apply(sighting('a', 'IN_QUEUE', { attempt: 4 }));
    view.apply(sighting('a', 'COMPLETED', { attempt: 4 }));
    expect(view.counts(EP)).toMatchObject({ retried: 3, failed: 1, completed: 1, inQueue: 0 });
  });

  test('a purged job is counted nowhere and nobody is to be told of it', () => {
    const view = viewOf(sighting('a', 'IN_QUEUE'), sighting('b', 'IN_QUEUE', { isLowPriority: true }));
    view.takeChanged();
    view.purge({ endpointId: EP, jobId: 'a' as JobId });
    view.purge({ endpointId: EP, jobId: 'never' as JobId });
    expect(view.counts(EP)).toMatchObject({ inQueue: 1, inProgress: 0 });
    expect(view.demand(EP, T)).toMatchObject({ queuedNormal: 0, queuedLow: 1 });
    expect(view.takeChanged()).toEqual([EP]);
    view.remove({ endpointId: EP, jobId: 'a' as JobId }, T + 60_000);
    expect(view.takeExpired(9)).toEqual([]);
  });

  test('an older version that comes late changes nothing', () => {
    const old = sighting('a', 'IN_QUEUE');
    const view = viewOf(sighting('a', 'IN_PROGRESS'));
    view.apply(old);
    expect(view.counts(EP)).toMatchObject({ inQueue: 0, inProgress: 1 });
  });

  test('demand: normal and low apart, the oldest that waits, the pace of the last minute', () => {
    const view = viewOf(
      sighting('late', 'IN_QUEUE', { queuedAtMs: T + 90 }),
      sighting('early', 'IN_QUEUE', { queuedAtMs: T + 50 }),
      sighting('low', 'IN_QUEUE', { isLowPriority: true, queuedAtMs: T - 9_000 }),
      sighting('run', 'IN_PROGRESS'),
      sighting('lowrun', 'IN_PROGRESS', { isLowPriority: true }),
      sighting('done', 'COMPLETED'),
      sighting('cancelled', 'CANCELLED', { startedAtMs: null }),
    );

    expect(view.demand(EP, T + 1_000)).toEqual({
      queuedNormal: 2,
      queuedLow: 1,
      running: 2,
      runningLow: 1,
      oldestQueuedAtMs: T + 50,
      endedLastMinute: 1,
      executionMsLastMinute: 200,
    });
    expect(view.demand(EP, T + 62_000)).toMatchObject({ endedLastMinute: 0, executionMsLastMinute: 0 });
  });

  test('a requeued job waits from its requeue on, behind those that waited before', () => {
    const view = viewOf(
      sighting('a', 'IN_QUEUE', { queuedAtMs: T }),
      sighting('b', 'IN_QUEUE', { queuedAtMs: T + 10 }),
      sighting('a', 'IN_PROGRESS'),
      sighting('a', 'IN_QUEUE', { attempt: 2, queuedAtMs: T + 500 }),
    );
    expect(view.demand(EP, T + 600).oldestQueuedAtMs).toBe(T + 10);
    expect([...view.queued(EP)].map(({ jobId }) => jobId)).toEqual(['b', 'a']);
  });

  test('jobs past their time to live leave the view; those that had not ended are handed over once', () => {
    const view = viewOf(
      sighting('a', 'COMPLETED', { expiresAtMs: T + 1_000 }),
      sighting('b', 'IN_PROGRESS', { expiresAtMs: T + 2_000 }),
      sighting('c', 'IN_QUEUE', { expiresAtMs: T + 9_000 }),
    );
    view.expire(T + 1_999);
    expect(view.takeExpired(10)).toEqual([]);
    view.expire(T + 3_000);

    expect(view.takeExpired(10).map(({ jobId }) => jobId)).toEqual(['b']);
    expect(view.takeExpired(10)).toEqual([]);
    expect(view.counts(EP)).toMatchObject({ completed: 1, inQueue: 1, inProgress: 0 });
  });

  test('ended jobs with a webhook are untold until somebody says otherwise of that very end, or they go', () => {
    const hasWebhook = true;
    const view = viewOf(
      sighting('a', 'COMPLETED', { hasWebhook }),
      sighting('b', 'FAILED', { hasWebhook }),
      sighting('c', 'IN_PROGRESS', { hasWebhook }),
      sighting('d', 'COMPLETED'),
    );
    const untold = (): readonly string[] => [...view.untold()].map(({ jobId }) => jobId);
    expect(untold()).toEqual(['a', 'b']);
    view.markTold({ endpointId: EP, jobId: 'a' as JobId, attempt: 1 });
    view.markTold({ endpointId: EP, jobId: 'b' as JobId, attempt: 2 });
    expect(untold()).toEqual(['b']);
    view.remove({ endpointId: EP, jobId: 'b' as JobId }, T);
    expect(untold()).toEqual([]);
  });

  test('a record that the feed tells as gone leaves the view', () => {
    const view = viewOf(sighting('a', 'IN_QUEUE'), sighting('b', 'COMPLETED'));
    view.remove({ endpointId: EP, jobId: 'a' as JobId }, T);
    view.remove({ endpointId: EP, jobId: 'b' as JobId }, T);

    expect(view.takeExpired(10).map(({ jobId }) => jobId)).toEqual(['a']);
    expect(view.counts(EP)).toMatchObject({ completed: 1, inQueue: 0 });
    expect(view.find({ endpointId: EP, jobId: 'b' as JobId })).toBeUndefined();
  });

  test('what expired long ago is told to nobody: an old event, replayed', () => {
    const view = viewOf(sighting('a', 'IN_PROGRESS', { expiresAtMs: T }));
    view.remove({ endpointId: EP, jobId: 'a' as JobId }, T + 3_600_000);
    expect(view.takeExpired(10)).toEqual([]);
  });

  test('a job whose life was prolonged stays', () => {
    const view = viewOf(
      sighting('a', 'IN_QUEUE', { expiresAtMs: T + 1_000 }),
      sighting('a', 'IN_QUEUE', { expiresAtMs: T + 5_000 }),
    );
    view.expire(T + 2_000);
    expect(view.counts(EP).inQueue).toBe(1);
    view.expire(T + 6_000);
    expect(view.counts(EP).inQueue).toBe(0);
  });

  test('changes are told once per endpoint', () => {
    const view = viewOf(sighting('a', 'IN_QUEUE'), sighting('b', 'IN_QUEUE', { endpointId: 'other' as EndpointId }));
    expect([...view.takeChanged()].sort()).toEqual(['ep', 'other']);
    expect(view.takeChanged()).toEqual([]);
    view.apply(sighting('a', 'IN_PROGRESS'));
    expect(view.takeChanged()).toEqual(['ep']);
  });

  test('an unknown endpoint has nothing', () => {
    const view = new JobView();
    expect(view.counts(EP)).toMatchObject({ inQueue: 0, completed: 0 });
    expect(view.demand(EP, T)).toMatchObject({ queuedNormal: 0, oldestQueuedAtMs: null });
    expect(view.demandingEndpoints(T)).toEqual([]);
  });
});

describe('the place in start order', () => {
  const placeOf = (
    view: JobView,
    jobId: string,
    ...[queuedAtMs, isLowPriority = false]: readonly [number, boolean?]
  ): number => view.positionOf({ endpointId: EP, jobId: jobId as JobId, queuedAtMs }, isLowPriority);

  test('is by the instant of queueing, whatever the order of sight, and low priority comes after all others', () => {
    const view = viewOf(
      sighting('c', 'IN_QUEUE', { queuedAtMs: T + 2 }),
      sighting('l', 'IN_QUEUE', { queuedAtMs: T, isLowPriority: true }),
      sighting('a', 'IN_QUEUE', { queuedAtMs: T }),
      sighting('b', 'IN_QUEUE', { queuedAtMs: T + 1 }),
    );
    expect([placeOf(view, 'a', T), placeOf(view, 'b', T + 1), placeOf(view, 'c', T + 2)]).toEqual([1, 2, 3]);
    expect(placeOf(view, 'l', T, true)).toBe(4);
    expect(view.demand(EP, T).oldestQueuedAtMs).toBe(T);
  });

  test('moves up when one before it is taken, cancelled, gone or queued again', () => {
    const before = ['a', 'b', 'c', 'd'].map((name, n) => sighting(name, 'IN_QUEUE', { queuedAtMs: T + n }));
    const view = viewOf(...before, sighting('e', 'IN_QUEUE', { queuedAtMs: T + 9 }));
    const place = (): number => placeOf(view, 'e', T + 9);
    expect(place()).toBe(5);
    view.apply(sighting('a', 'IN_PROGRESS'));
    view.apply(sighting('b', 'CANCELLED'));
    expect(place()).toBe(3);
    view.remove({ endpointId: EP, jobId: 'c' as JobId }, T + 10);
    view.apply(sighting('d', 'IN_QUEUE', { queuedAtMs: T + 10, attempt: 2 }));
    expect(place()).toBe(1);
    expect(placeOf(view, 'd', T + 10)).toBe(2);
  });

  test('is known for a job that has not been seen yet, and for an endpoint without jobs', () => {
    const view = viewOf(sighting('a', 'IN_QUEUE'), sighting('b', 'IN_QUEUE', { queuedAtMs: T + 5 }));
    expect(placeOf(view, 'new', T + 3)).toBe(2);
    expect(placeOf(new JobView(), 'new', T)).toBe(1);
  });
});
