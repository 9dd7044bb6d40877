import { describe, expect, test } from '@jest/globals';
import { planWorker } from './plan-worker.js';
import { newJournal } from './worker-journal.js';
import type { ContainerSession, WantedWorker, WorkerView } from './worker-view.js';

const NOW = 1_000_000;
const IDLE_MS = 5_000;
const RUNNING = { kind: 'running', containerId: 'c1', startedAtMs: NOW - 100_000 } as const;
const FROZEN = { ...RUNNING, isPaused: true } as const;

const wanted = (fields: Partial<WantedWorker> = {}): WantedWorker => ({
  intent: 'paused',
  endpointType: 'QUEUE',
  generation: 0,
  initTimeoutMs: 420_000,
  stopGraceMs: 30_000,
  pausesAfterIdleMs: IDLE_MS,
  ...fields,
});

const sessionOf = (fields: Partial<ContainerSession> = {}): ContainerSession => ({
  containerId: 'c1',
  openedAtMs: NOW - 100_000,
  isAdopted: false,
  knowsBridge: true,
  hasCalled: true,
  readyAtMs: NOW - 90_000,
  runningJobs: 0,
  finishedJobs: 1,
  lastJobEndedAtMs: NOW - 60_000,
  latestDeadlineAtMs: null,
  recycleReason: null,
  killReason: null,
  releasedAtMs: null,
  stoppedAtMs: null,
  killedAtMs: null,
  ...fields,
});

/** A worker that is to be paused and has been idle for a minute, unless said otherwise. */
const viewOf = (fields: Partial<WorkerView> = {}): WorkerView => ({
  desired: wanted(),
  isSynced: true,
  container: RUNNING,
  preparation: 'done',
  session: sessionOf(),
  journal: newJournal(0),
  ...fields,
});

const paused = (fields: Partial<WorkerView> = {}): WorkerView =>
  viewOf({ container: FROZEN, session: sessionOf({ heldAtMs: NOW - 50_000 }), ...fields });

const step = (view: WorkerView, nowMs = NOW) => planWorker(view, nowMs).operation;

describe('a worker that is to be paused', () => {
  test('has its polls held first, then its container is frozen, and then it is let be', () => {
    expect(step(viewOf())).toEqual({ kind: 'hold-polls' });
    expect(step(viewOf({ session: sessionOf({ heldAtMs: NOW }) }))).toEqual({ kind: 'pause' });
    expect(planWorker(paused(), NOW)).toEqual({
      operation: { kind: 'wait-until', untilMs: null },
      condition: { phase: 'paused', reason: 'paused (flashboot)' },
    });
  });

  test('goes on until it has been idle for as long as was said, by its own clock', () => {
    const session = sessionOf({ lastJobEndedAtMs: NOW - 1_000 });
    expect(planWorker(viewOf({ session }), NOW)).toMatchObject({
      operation: { kind: 'wait-until', untilMs: NOW - 1_000 + IDLE_MS },
      condition: { phase: 'idle' },
    });
    expect(step(viewOf({ session }), NOW - 1_000 + IDLE_MS)).toEqual({ kind: 'hold-polls' });
  });

  test('that got a job before its polls were held takes jobs again', () => {
    const session = sessionOf({ heldAtMs: NOW, runningJobs: 1, lastJobEndedAtMs: null });
    expect(planWorker(viewOf({ session }), NOW)).toMatchObject({
      operation: { kind: 'resume' },
      condition: { phase: 'busy' },
    });
    expect(step(viewOf({ session: { ...session, heldAtMs: null } }))).toEqual({ kind: 'wait-until', untilMs: null });
  });

  test('is frozen only once it has come up', () => {
    const session = sessionOf({ readyAtMs: null, openedAtMs: NOW, lastJobEndedAtMs: null });
    expect(planWorker(viewOf({ session }), NOW)).toMatchObject({
      operation: { kind: 'wait-until', untilMs: NOW + 420_000 },
      condition: { phase: 'starting' },
    });
  });

  test('and has no container is gone: nothing is started to be paused', () => {
    const absent = viewOf({ container: { kind: 'absent' }, session: null, preparation: 'none' });
    expect(planWorker(absent, NOW)).toEqual({
      operation: { kind: 'wait-until', untilMs: null },
      condition: { phase: 'removed', reason: '' },
    });
  });

  test('and cannot be takes jobs on, says why, and is tried again after a minute', () => {
    const session = sessionOf({ pauseFailure: { atMs: NOW, reason: 'freeze-failed: no freezer' } });
    expect(planWorker(viewOf({ session }), NOW)).toEqual({
      operation: { kind: 'wait-until', untilMs: NOW + 60_000 },
      condition: { phase: 'idle', reason: 'it could not be paused: freeze-failed: no freezer' },
    });
    expect(step(viewOf({ session }), NOW + 60_000)).toEqual({ kind: 'hold-polls' });
  });
});

describe('a paused worker', () => {
  test('that is wanted goes on, and is no longer cut off than one that has just come', () => {
    const desired = wanted({ intent: 'running' });
    expect(step(paused({ desired }))).toEqual({ kind: 'resume' });
    const session = sessionOf({ isAdopted: true, hasCalled: false, openedAtMs: NOW - 3_600_000, resumedAtMs: NOW });
    expect(step(viewOf({ desired, session }))).toEqual({ kind: 'wait-until', untilMs: NOW + 60_000 });
  });

  test('stays so through a restart of its agent, however lately that was, and its silence means nothing', () => {
    const adopted = { isAdopted: true, hasCalled: false, openedAtMs: NOW, lastJobEndedAtMs: null, heldAtMs: NOW - 1 };
    const view = paused({ session: sessionOf(adopted) });
    for (const nowMs of [NOW, NOW + 3_600_000]) {
      expect(planWorker(view, nowMs)).toMatchObject({
        operation: { kind: 'wait-until', untilMs: null },
        condition: { phase: 'paused' },
      });
    }
  });

  test('that is to leave is drained in the usual order', () => {
    const desired = wanted({ intent: 'drained' });
    expect(planWorker(paused({ desired }), NOW)).toMatchObject({
      operation: { kind: 'release-parked-polls' },
      condition: { phase: 'draining' },
    });
    const released = sessionOf({ heldAtMs: NOW - 50_000, releasedAtMs: NOW });
    expect(step(paused({ desired, session: released }))).toEqual({ kind: 'stop' });
  });

  test('whose restart was asked for is replaced, and then gone', () => {
    const desired = wanted({ generation: 1 });
    expect(step(paused({ desired }))).toEqual({ kind: 'release-parked-polls' });
  });

  test('that nobody paused on purpose goes on', () => {
    expect(step(viewOf({ desired: wanted({ intent: 'running' }), container: FROZEN }))).toEqual({ kind: 'resume' });
  });
});
