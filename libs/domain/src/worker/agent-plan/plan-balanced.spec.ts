import { describe, expect, test } from '@jest/globals';
import { planWorker } from './plan-worker.js';
import { newJournal } from './worker-journal.js';
import type { ContainerSession, SessionHealth, WantedWorker, WorkerView } from './worker-view.js';

const NOW = 1_000_000;
const MINUTE_MS = 60_000;

const IN: SessionHealth = { standing: 'in', sinceMs: NOW - 50_000, words: 'GET /ping answered 200' };
const OUT: SessionHealth = { standing: 'out', sinceMs: NOW, words: 'GET /ping answered 500' };

const desiredOf = (fields: Partial<WantedWorker> = {}): WantedWorker => ({
  intent: 'running',
  endpointType: 'LOAD_BALANCER',
  generation: 0,
  initTimeoutMs: 480_000,
  requestGraceMs: 330_000,
  stopGraceMs: 30_000,
  ...fields,
});

const sessionOf = (fields: Partial<ContainerSession> = {}): ContainerSession => ({
  containerId: 'c1',
  openedAtMs: NOW - 100_000,
  isAdopted: false,
  knowsBridge: true,
  hasCalled: false,
  readyAtMs: NOW - 90_000,
  health: IN,
  runningJobs: 0,
  finishedJobs: 0,
  latestDeadlineAtMs: null,
  recycleReason: null,
  killReason: null,
  releasedAtMs: null,
  stoppedAtMs: null,
  killedAtMs: null,
  ...fields,
});

const viewOf = (session: Partial<ContainerSession>, more: Partial<WorkerView> = {}): WorkerView => ({
  desired: desiredOf(),
  isSynced: true,
  container: { kind: 'running', containerId: 'c1', startedAtMs: NOW - 100_000 },
  preparation: 'done',
  session: sessionOf(session),
  journal: newJournal(0),
  ...more,
});

const EXITED = { kind: 'exited', containerId: 'c1', exitCode: 0, reason: '' } as const;

describe('the phase of a load-balanced worker', () => {
  test.each<[string, Partial<ContainerSession>, { readonly phase: string; readonly reason: string }]>([
    [
      'before the first check',
      { readyAtMs: null, health: { standing: 'unknown', sinceMs: NOW, words: '' } },
      { phase: 'starting', reason: 'no health check has succeeded yet' },
    ],
    [
      'before the first good one',
      { readyAtMs: null, health: OUT },
      { phase: 'starting', reason: 'no health check has succeeded yet: GET /ping answered 500' },
    ],
    ['without a request', {}, { phase: 'idle', reason: '' }],
    ['with a request', { runningJobs: 1 }, { phase: 'busy', reason: '' }],
    ['whose checks fail', { health: OUT, runningJobs: 1 }, { phase: 'unhealthy', reason: 'GET /ping answered 500' }],
    [
      'that initializes again',
      { health: { ...OUT, standing: 'initializing', words: 'GET /ping answered 204' } },
      { phase: 'starting', reason: 'GET /ping answered 204' },
    ],
    [
      'found again, before its first check',
      { isAdopted: true, health: { standing: 'unknown', sinceMs: NOW, words: '' } },
      { phase: 'idle', reason: '' },
    ],
  ])('%s', (_, session, condition) => {
    expect(planWorker(viewOf(session), NOW).condition).toEqual(condition);
  });
});

describe('a load-balanced worker that does not come up', () => {
  test('has eight minutes, and then the reason says what its checks showed', () => {
    const view = viewOf({ readyAtMs: null, openedAtMs: NOW, health: OUT });
    expect(planWorker(view, NOW).operation).toEqual({ kind: 'wait-until', untilMs: NOW + 8 * MINUTE_MS });
    expect(planWorker(view, NOW + 8 * MINUTE_MS).operation).toEqual({
      kind: 'kill',
      reason: 'the worker was not ready within its initialization time: GET /ping answered 500',
    });
  });

  test('has failed for what was said when it was killed, not for what its checks find since', () => {
    const gone = { ...OUT, words: 'GET /ping failed: ECONNREFUSED' };
    const killed = { readyAtMs: null, killedAtMs: NOW, killedBecause: 'not ready: GET /ping answered 500' };
    const view = viewOf({ ...killed, health: gone }, { container: EXITED });
    expect(planWorker(view, NOW).operation).toMatchObject({
      journal: { lastFailure: { reason: expect.stringContaining('not ready: GET /ping answered 500') } },
    });
  });

  test('has failed to start when it is gone', () => {
    const view = viewOf({ readyAtMs: null, health: OUT, killedAtMs: NOW }, { container: EXITED });
    expect(planWorker(view, NOW).operation).toMatchObject({
      kind: 'write-journal',
      journal: { failedStarts: 1, lastFailure: { reason: expect.stringContaining('GET /ping answered 500') } },
    });
  });
});

describe('a load-balanced worker whose checks fail', () => {
  test('is replaced after a minute, and not before', () => {
    const view = viewOf({ health: OUT });
    expect(planWorker(view, NOW).operation).toEqual({ kind: 'wait-until', untilMs: NOW + MINUTE_MS });
    expect(planWorker(view, NOW + MINUTE_MS)).toEqual({
      operation: { kind: 'release-parked-polls' },
      condition: { phase: 'draining', reason: 'the health checks of the worker fail: GET /ping answered 500' },
    });
  });

  test('has failed, so that its next start waits as after a crash', () => {
    const session = { health: OUT, releasedAtMs: NOW + MINUTE_MS, stoppedAtMs: NOW + MINUTE_MS };
    expect(planWorker(viewOf(session, { container: EXITED }), NOW + MINUTE_MS).operation).toMatchObject({
      kind: 'write-journal',
      journal: {
        failedStarts: 1,
        lastFailure: { reason: 'the health checks of the worker fail: GET /ping answered 500' },
      },
    });
  });

  test('is told apart from one that rests, whose checks mean nothing', () => {
    const view = viewOf({ health: OUT, heldAtMs: NOW }, { desired: desiredOf({ intent: 'paused' }) });
    expect(planWorker(view, NOW + 10 * MINUTE_MS).condition.phase).not.toBe('draining');
  });

  test('and says that it initializes has as long as for a start', () => {
    const view = viewOf({ health: { ...OUT, standing: 'initializing' } });
    expect(planWorker(view, NOW).operation).toEqual({ kind: 'wait-until', untilMs: NOW + 8 * MINUTE_MS });
  });
});

describe('a load-balanced worker that leaves', () => {
  const leaving = (session: Partial<ContainerSession>): WorkerView =>
    viewOf({ releasedAtMs: NOW, ...session }, { desired: desiredOf({ intent: 'drained' }) });

  test('gets nothing new first, whatever it has', () => {
    expect(planWorker(leaving({ releasedAtMs: null, runningJobs: 2 }), NOW).operation.kind).toBe(
      'release-parked-polls',
    );
  });

  test('is stopped at once without a request', () => {
    expect(planWorker(leaving({}), NOW).operation).toEqual({ kind: 'stop' });
  });

  test('keeps its requests for their time, then loses them', () => {
    const view = leaving({ runningJobs: 2 });
    expect(planWorker(view, NOW).operation).toEqual({ kind: 'wait-until', untilMs: NOW + 330_000 });
    expect(planWorker(view, NOW + 330_000).operation).toEqual({ kind: 'stop' });
  });

  test('that nobody names any more gives them the usual grace', () => {
    const view = viewOf({ releasedAtMs: NOW, runningJobs: 1 }, { desired: null });
    const journal = { ...newJournal(0), unwantedSinceMs: NOW };
    expect(planWorker({ ...view, journal }, NOW).operation).toEqual({ kind: 'wait-until', untilMs: NOW + 30_000 });
  });

  test('is killed when it does not end', () => {
    const view = leaving({ stoppedAtMs: NOW, runningJobs: 0 });
    expect(planWorker(view, NOW + 30_000).operation.kind).toBe('kill');
  });
});

describe('a load-balanced worker that is to be paused', () => {
  const paused = (session: Partial<ContainerSession>): WorkerView =>
    viewOf(session, { desired: desiredOf({ intent: 'paused', pausesAfterIdleMs: 10_000 }) });

  test('never is with a request in flight', () => {
    expect(planWorker(paused({ runningJobs: 1 }), NOW).operation).toEqual({ kind: 'wait-until', untilMs: null });
    expect(planWorker(paused({ runningJobs: 1, heldAtMs: NOW }), NOW).operation).toEqual({ kind: 'resume' });
  });

  test('takes nothing new before it is frozen', () => {
    const idle = { lastJobEndedAtMs: NOW - 10_000 };
    expect(planWorker(paused(idle), NOW - 1).operation).toEqual({ kind: 'wait-until', untilMs: NOW });
    expect(planWorker(paused(idle), NOW).operation).toEqual({ kind: 'hold-polls' });
    expect(planWorker(paused({ ...idle, heldAtMs: NOW }), NOW).operation).toEqual({ kind: 'pause' });
  });
});
