import { expect, test } from '@jest/globals';
import type { EndpointId, WorkerId } from '../../ids.js';
import { observeWorker } from './observe-worker.js';
import { planWorker } from './plan-worker.js';
import { newJournal, withStartFailure } from './worker-journal.js';
import type { WorkerView } from './worker-view.js';

const identity = { workerId: 'w' as WorkerId, endpointId: 'e' as EndpointId, release: 2, gpuTypeId: null };

const ABSENT = { kind: 'absent' } as const;

const viewWith = (runningJobs: number): WorkerView => ({
  desired: { intent: 'running', endpointType: 'QUEUE', generation: 0, initTimeoutMs: 1, stopGraceMs: 1 },
  isSynced: true,
  container: { kind: 'running', containerId: 'c', startedAtMs: 7 },
  preparation: 'done',
  session: {
    containerId: 'c',
    openedAtMs: 7,
    isAdopted: false,
    knowsBridge: true,
    hasCalled: true,
    readyAtMs: 8,
    runningJobs,
    finishedJobs: 0,
    latestDeadlineAtMs: null,
    recycleReason: null,
    killReason: null,
    releasedAtMs: null,
    stoppedAtMs: null,
    killedAtMs: null,
  },
  journal: { ...newJournal(0), failedStarts: 2 },
});

test('an observation tells the phase, and since when', () => {
  const at = (runningJobs: number, previous: Parameters<typeof observeWorker>[1]['previous'], nowMs: number) => {
    const view = viewWith(runningJobs);
    return observeWorker(identity, { view, condition: planWorker(view, nowMs).condition, previous }, nowMs);
  };
  const idle = at(0, null, 100);
  expect(idle).toEqual({
    ...identity,
    phase: 'idle',
    reason: '',
    runningJobs: 0,
    failedStarts: 2,
    phaseSinceMs: 100,
    startedAtMs: 7,
  });
  const later = at(0, idle, 200);
  expect(later.phaseSinceMs).toBe(100);
  const busy = at(2, later, 300);
  expect(busy).toMatchObject({ phase: 'busy', runningJobs: 2, phaseSinceMs: 300 });
});

test('an observation tells how much of the image is here, what failed last, and when the next start is', () => {
  const observe = (more: Partial<WorkerView>, nowMs: number) => {
    const view: WorkerView = { ...viewWith(0), journal: newJournal(0), session: null, container: ABSENT, ...more };
    return observeWorker(identity, { view, condition: planWorker(view, nowMs).condition, previous: null }, nowMs);
  };
  expect(observe({ preparation: 'running', imagePercent: 43 }, 0)).toMatchObject({
    phase: 'preparing',
    reason: 'the image is being pulled, 43 %',
    imagePercent: 43,
  });
  const journal = withStartFailure(newJournal(0), { reason: 'no such image', kind: 'image' }, 5_000);
  expect(observe({ preparation: 'none', journal }, 5_999)).toMatchObject({
    phase: 'waiting',
    failure: 'image',
    nextStartAtMs: 6_000,
  });
  const due = observe({ preparation: 'none', journal }, 6_000);
  expect(due).toMatchObject({ phase: 'preparing', failure: 'image' });
  expect(due).not.toHaveProperty('nextStartAtMs');
  expect(due).not.toHaveProperty('imagePercent');
});

test('a reason that some worker, image or engine wrote is bounded, and may be stored and shown', () => {
  const view = viewWith(0);
  const reasonOf = (reason: string): string =>
    observeWorker(identity, { view, condition: { phase: 'idle', reason }, previous: null }, 1).reason;
  expect(reasonOf('a\0b\ud83d\u202e')).toBe('a b\ufffd');
  expect(reasonOf('x'.repeat(5_000))).toHaveLength(2_000);
});

test('what the host does not keep of the wish is told while the container runs', () => {
  const view = viewWith(0);
  const { condition } = planWorker(view, 10);
  const container = {
    kind: 'running',
    containerId: 'c',
    startedAtMs: 7,
    notes: Array(20).fill('no disk limit'),
  } as const;
  const told = observeWorker(identity, { view: { ...view, container }, condition, previous: null }, 10);
  expect(told.notes).toEqual(Array(8).fill('no disk limit'));
  expect(observeWorker(identity, { view, condition, previous: null }, 10)).not.toHaveProperty('notes');
});

test('a worker that listens says where, for as long as somebody wants it', () => {
  const view = viewWith(0);
  const observedWith = (desired: WorkerView['desired']) =>
    observeWorker(
      identity,
      { view: { ...view, desired }, condition: planWorker(view, 1).condition, previous: null },
      1,
    );
  expect(observedWith(view.desired)).not.toHaveProperty('port');
  const ports = { port: 8080, healthPort: 80 };
  expect(observedWith({ ...view.desired!, endpointType: 'LOAD_BALANCER', ports })).toMatchObject(ports);
  expect(observedWith(null)).not.toHaveProperty('port');
});

test('a worker that was taken from its host says so from its end to its next start, also while it is replaced', () => {
  const lastFailure = { atMs: 100, reason: 'taken away', kind: 'container', lacksRoom: true } as const;
  const journal = { ...newJournal(0), failedStarts: 1, lastFailure, countedContainerId: 'c' };
  const roomOf = (more: Partial<WorkerView>, nowMs = 100) => {
    const view: WorkerView = { ...viewWith(0), journal, ...more };
    return observeWorker(identity, { view, condition: planWorker(view, nowMs).condition, previous: null }, nowMs);
  };
  const { session } = viewWith(0);
  const gone = { container: ABSENT, session: session === null ? null : { ...session, releasedAtMs: 90 } };
  expect(roomOf(gone)).toMatchObject({ phase: 'draining', lacksRoom: true });
  expect(roomOf({ container: ABSENT, session: null })).toMatchObject({ phase: 'waiting', lacksRoom: true });
  expect(roomOf({ container: ABSENT, session: null }, 5_000)).not.toHaveProperty('lacksRoom');
  expect(roomOf({ session: gone.session })).not.toHaveProperty('lacksRoom');
});
