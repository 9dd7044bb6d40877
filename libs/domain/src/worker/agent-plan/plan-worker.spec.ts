import { describe, expect, test } from '@jest/globals';
import { planWorker } from './plan-worker.js';
import { newJournal, withStartFailure } from './worker-journal.js';
import type { WorkerOperation } from './worker-operation.js';
import type { WantedWorker, ContainerSession, WorkerView } from './worker-view.js';

const NOW = 1_000_000;

const desiredOf = (fields: Partial<WantedWorker> = {}): WantedWorker => ({
  intent: 'running',
  endpointType: 'QUEUE',
  generation: 0,
  initTimeoutMs: 420_000,
  stopGraceMs: 30_000,
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
  finishedJobs: 0,
  latestDeadlineAtMs: null,
  recycleReason: null,
  killReason: null,
  releasedAtMs: null,
  stoppedAtMs: null,
  killedAtMs: null,
  ...fields,
});

const RUNNING = { kind: 'running', containerId: 'c1', startedAtMs: NOW - 100_000 } as const;
const EXITED = { kind: 'exited', containerId: 'c1', exitCode: 1, reason: '' } as const;

/** A worker that runs and is idle, unless said otherwise. */
const viewOf = (fields: Partial<WorkerView> = {}): WorkerView => ({
  desired: desiredOf(),
  isSynced: true,
  container: RUNNING,
  preparation: 'done',
  session: sessionOf(),
  journal: newJournal(0),
  ...fields,
});

const absent = (fields: Partial<WorkerView> = {}): WorkerView =>
  viewOf({ container: { kind: 'absent' }, session: null, preparation: 'none', ...fields });

const failed = (times: number): WorkerView['journal'] =>
  Array.from({ length: times }).reduce<WorkerView['journal']>(
    (journal) => withStartFailure(journal, { reason: 'no such image', kind: 'image' }, NOW),
    newJournal(0),
  );

const DRAINED = desiredOf({ intent: 'drained' });
const UNSTARTABLE = desiredOf({ unstartable: 'its environment variables cannot be opened' });

describe('a worker that cannot be started at present', () => {
  test.each<[string, Partial<WorkerView>]>([
    ['is not there', absent({ desired: UNSTARTABLE })],
    ['is prepared already', absent({ desired: UNSTARTABLE, preparation: 'done' })],
    ['has failed before', absent({ desired: UNSTARTABLE, journal: failed(1) })],
  ])('is neither prepared nor started when it %s, and says why', (_, view) => {
    const { operation, condition } = planWorker(viewOf(view), NOW);
    expect(operation).toEqual({ kind: 'wait-until', untilMs: null });
    expect(condition).toMatchObject({
      phase: 'waiting',
      reason: expect.stringContaining(UNSTARTABLE.unstartable ?? ''),
    });
  });

  test('goes on running where it runs, and says why it would not come back', () => {
    const { operation, condition } = planWorker(viewOf({ desired: UNSTARTABLE }), NOW);
    expect(operation).toEqual({ kind: 'wait-until', untilMs: null });
    expect(condition).toEqual({
      phase: 'idle',
      reason: 'it cannot be started anew: its environment variables cannot be opened',
    });
  });

  test('can leave all the same', () => {
    const desired = { ...UNSTARTABLE, intent: 'drained' as const };
    expect(planWorker(viewOf({ desired }), NOW).operation).toEqual({ kind: 'release-parked-polls' });
    expect(planWorker(absent({ desired }), NOW).condition.phase).toBe('removed');
  });
});

describe('one step towards a running worker', () => {
  test.each<[string, WorkerView, WorkerOperation, string]>([
    ['prepare first', absent(), { kind: 'prepare' }, 'preparing'],
    [
      'wait while it is prepared',
      absent({ preparation: 'running' }),
      { kind: 'wait-until', untilMs: null },
      'preparing',
    ],
    ['then start', absent({ preparation: 'done' }), { kind: 'start' }, 'starting'],
    [
      'wait for its first sign',
      viewOf({ session: sessionOf({ readyAtMs: null, openedAtMs: NOW }) }),
      { kind: 'wait-until', untilMs: NOW + 420_000 },
      'starting',
    ],
    ['ready: nothing to do', viewOf(), { kind: 'wait-until', untilMs: null }, 'idle'],
    [
      'with a job: nothing to do',
      viewOf({ session: sessionOf({ runningJobs: 1 }) }),
      { kind: 'wait-until', untilMs: null },
      'busy',
    ],
    ['adopt what an earlier agent started', viewOf({ session: null }), { kind: 'adopt' }, 'starting'],
    [
      'an adopted worker in the middle of a job is busy, though it is silent',
      viewOf({ session: sessionOf({ readyAtMs: null, runningJobs: 1, openedAtMs: NOW - 500_000 }) }),
      { kind: 'wait-until', untilMs: null },
      'busy',
    ],
  ])('%s', (...[, view, operation, phase]) => {
    expect(planWorker(view, NOW)).toMatchObject({ operation, condition: { phase } });
  });
});

describe('what keeps the host from beginning', () => {
  const heldUpBy = 'its node has not begun with it: FailedMount: no such folder';

  test.each<[string, Partial<WorkerView>, string]>([
    ['preparing', { preparation: 'running' }, `the image is being prepared; ${heldUpBy}`],
    ['preparing', { preparation: 'running', imagePercent: 4 }, `the image is being pulled, 4 %; ${heldUpBy}`],
    ['starting', { preparation: 'done' }, `the container is being started; ${heldUpBy}`],
    [
      'starting',
      { preparation: 'done', journal: failed(1) },
      `the container is being started; ${heldUpBy}; before: 1 failed start: no such image`,
    ],
    ['unhealthy', { preparation: 'done', journal: failed(5) }, `5 failed starts in a row: no such image; ${heldUpBy}`],
  ])('stands in the reason of a worker that is %s', (phase, fields, reason) => {
    expect(planWorker(absent({ heldUpBy, ...fields }), NOW + 16_000).condition).toEqual({ phase, reason });
  });

  test('is none of a container that runs', () => {
    expect(planWorker(viewOf({ heldUpBy }), NOW).condition).toEqual({ phase: 'idle', reason: '' });
  });
});

describe('starts that fail', () => {
  test.each<[string, Partial<WorkerView>, string]>([
    ['preparing', { preparation: 'running' }, 'the image is being prepared; before: 1 failed start: exit 3 | boom'],
    ['starting', { preparation: 'done' }, 'the container is being started; before: 1 failed start: exit 3 | boom'],
    [
      'starting',
      { container: RUNNING, session: sessionOf({ readyAtMs: null, openedAtMs: NOW + 1_000 }) },
      'the worker has not asked for a job yet; before: 1 failed start: exit 3 | boom',
    ],
    ['idle', { container: RUNNING, session: sessionOf() }, 'before: 1 failed start: exit 3 | boom'],
  ])('tell of the very first how it ended, also while the worker is %s', (phase, fields, reason) => {
    const journal = withStartFailure(newJournal(0), { reason: 'exit 3 | boom', kind: 'container' }, NOW);
    expect(planWorker(absent({ journal, ...fields }), NOW + 1_000).condition).toEqual({ phase, reason });
  });

  test.each([
    [1, 1_000, 'waiting', '1 failed start: no such image'],
    [3, 4_000, 'waiting', '3 failed starts in a row: no such image'],
    [5, 16_000, 'unhealthy', '5 failed starts in a row: no such image'],
    [12, 300_000, 'unhealthy', '12 failed starts in a row: no such image'],
  ])('after %d the next waits %d ms', (...[times, delayMs, phase, reason]) => {
    const view = absent({ journal: failed(times) });
    expect(planWorker(view, NOW)).toEqual({
      operation: { kind: 'wait-until', untilMs: NOW + delayMs },
      condition: { phase, reason },
    });
    expect(planWorker(view, NOW + delayMs).operation).toEqual({ kind: 'prepare' });
  });

  test('an unhealthy worker stays unhealthy until it is ready', () => {
    const journal = failed(5);
    const phases = [
      absent({ journal, preparation: 'running' }),
      absent({ journal, preparation: 'done' }),
      viewOf({ journal, session: sessionOf({ readyAtMs: null, openedAtMs: NOW + 20_000 }) }),
      viewOf({ journal }),
    ].map((view) => planWorker(view, NOW + 20_000).condition.phase);
    expect(phases).toEqual(['unhealthy', 'unhealthy', 'unhealthy', 'idle']);
  });

  test('a restart that was asked for clears the count and starts at once', () => {
    const view = absent({ journal: failed(12), desired: desiredOf({ generation: 1 }) });
    expect(planWorker(view, NOW).operation).toEqual({ kind: 'write-journal', journal: newJournal(1) });
    expect(planWorker({ ...view, journal: newJournal(1) }, NOW).operation).toEqual({ kind: 'prepare' });
  });

  test('a worker that was ready for a minute has started well', () => {
    const session = sessionOf({ readyAtMs: NOW - 59_999 });
    expect(planWorker(viewOf({ journal: failed(4), session }), NOW).operation).toEqual({
      kind: 'wait-until',
      untilMs: NOW + 1,
    });
    expect(planWorker(viewOf({ journal: failed(4), session }), NOW + 1).operation).toEqual({
      kind: 'write-journal',
      journal: newJournal(0),
    });
  });

  test('a worker that is never ready is killed, and that is a failure', () => {
    const session = sessionOf({ readyAtMs: null, openedAtMs: NOW - 420_000 });
    const reason = 'the worker was not ready within its initialization time';
    expect(planWorker(viewOf({ session }), NOW).operation).toEqual({ kind: 'kill', reason });
    const killed = { ...session, killedAtMs: NOW };
    expect(planWorker(viewOf({ session: killed }), NOW).operation).toEqual({
      kind: 'wait-until',
      untilMs: NOW + 10_000,
    });
    expect(planWorker(viewOf({ session: killed, container: EXITED }), NOW).operation).toMatchObject({
      kind: 'write-journal',
      journal: { failedStarts: 1, lastFailure: { reason }, countedContainerId: 'c1' },
    });
  });
});

describe('a container that ended', () => {
  test('has its jobs given back, its end counted, and is removed, one after the other', () => {
    const jobs = viewOf({ container: { ...EXITED, reason: 'out of memory' }, session: sessionOf({ runningJobs: 2 }) });
    const reason = 'worker exited with code 1: out of memory';
    expect(planWorker(jobs, NOW).operation).toEqual({ kind: 'give-back-jobs', isCharged: true, reason });

    const settled = { ...jobs, session: sessionOf({ readyAtMs: NOW - 5_000 }) };
    const journal = {
      ...newJournal(0),
      failedStarts: 1,
      lastFailure: { atMs: NOW, reason, kind: 'container' as const },
      countedContainerId: 'c1',
    };
    expect(planWorker(settled, NOW).operation).toEqual({ kind: 'write-journal', journal });

    const counted = { ...settled, journal };
    expect(planWorker(counted, NOW).operation).toEqual({ kind: 'remove', containerId: 'c1' });

    const removed = absent({ journal, preparation: 'done' });
    expect(planWorker(removed, NOW)).toEqual({
      operation: { kind: 'wait-until', untilMs: NOW + 1_000 },
      condition: { phase: 'waiting', reason: `1 failed start: ${reason}` },
    });
  });

  test('and that has vanished is treated the same', () => {
    const view = viewOf({ container: { kind: 'absent' }, session: sessionOf({ runningJobs: 1 }) });
    expect(planWorker(view, NOW).operation).toEqual({
      kind: 'give-back-jobs',
      isCharged: true,
      reason: 'the container vanished',
    });
  });

  test('and that has vanished where only a host that is taken from it does so costs its jobs nothing', () => {
    for (const container of [{ kind: 'absent' } as const, { ...RUNNING, containerId: 'c2' }]) {
      const view = viewOf({ container, isTakenAwayWhenGone: true, session: sessionOf({ runningJobs: 1 }) });
      expect(planWorker(view, NOW).operation).toMatchObject({ kind: 'give-back-jobs', isCharged: false });
      const failed = planWorker({ ...view, container: EXITED, session: sessionOf({ runningJobs: 1 }) }, NOW);
      expect(failed.operation).toMatchObject({ kind: 'give-back-jobs', isCharged: true });
    }
  });

  test('and that was taken from its host costs its jobs nothing, but its next start waits as after a crash', () => {
    const container = { ...EXITED, isEvicted: true };
    const jobs = viewOf({ container, session: sessionOf({ runningJobs: 1 }) });
    expect(planWorker(jobs, NOW).operation).toMatchObject({ kind: 'give-back-jobs', isCharged: false });
    for (const session of [sessionOf(), sessionOf({ releasedAtMs: NOW, stoppedAtMs: NOW })]) {
      const { operation } = planWorker(viewOf({ container, session }), NOW);
      expect(operation).toMatchObject({ kind: 'write-journal', journal: { failedStarts: 1 } });
    }
  });

  test('and that was taken from its host is held against the host, and neither as code nor as crash', () => {
    const reason = 'taken away by the cluster: its Pod is gone';
    const evicted = viewOf({ container: { ...EXITED, exitCode: null, isEvicted: true, reason } });
    const vanished = viewOf({ container: { kind: 'absent' }, isTakenAwayWhenGone: true });
    expect([evicted, vanished].map((view) => planWorker(view, NOW).operation)).toMatchObject([
      { kind: 'write-journal', journal: { lastFailure: { lacksRoom: true, reason } } },
      { kind: 'write-journal', journal: { lastFailure: { lacksRoom: true, reason: 'the container vanished' } } },
    ]);
    const crashed = planWorker(viewOf({ container: EXITED }), NOW).operation;
    expect(crashed).not.toMatchObject({ journal: { lastFailure: { lacksRoom: true } } });
  });

  test('and that another one has replaced is settled before the other is adopted', () => {
    const container = { ...RUNNING, containerId: 'c2' };
    const journal = { ...newJournal(0), countedContainerId: 'c1' };
    expect(planWorker(viewOf({ container, journal }), NOW).operation).toEqual({ kind: 'remove', containerId: 'c1' });
    expect(planWorker(viewOf({ container, journal, session: null }), NOW).operation).toEqual({ kind: 'adopt' });
  });

  test.each([
    ['after SIGTERM', { stoppedAtMs: NOW }],
    ['after a kill for the sake of one job', { killReason: 'a cancelled job did not let go', killedAtMs: NOW }],
  ])('%s costs its jobs nothing and is no failure', (_, fields) => {
    const session = sessionOf({ runningJobs: 1, ...fields });
    const view = viewOf({ container: EXITED, session });
    expect(planWorker(view, NOW).operation).toMatchObject({ kind: 'give-back-jobs', isCharged: false });
    expect(planWorker({ ...view, session: { ...session, runningJobs: 0 } }, NOW).operation).toMatchObject({
      kind: 'write-journal',
      journal: { failedStarts: 0, lastFailure: null },
    });
  });

  test('that an earlier agent left behind is adopted first, for the jobs that were delivered to it', () => {
    expect(planWorker(viewOf({ container: EXITED, session: null }), NOW).operation).toEqual({ kind: 'adopt' });
  });
});

describe('the drain', () => {
  const drained = (fields: Partial<ContainerSession> = {}, more: Partial<WorkerView> = {}): WorkerView =>
    viewOf({ desired: DRAINED, session: sessionOf(fields), ...more });

  test.each<[string, WorkerView, WorkerOperation]>([
    ['releases the parked polls first', drained(), { kind: 'release-parked-polls' }],
    [
      'then sends SIGTERM, also to a worker with a job',
      drained({ releasedAtMs: NOW, runningJobs: 1 }),
      { kind: 'stop' },
    ],
    [
      'then waits out the grace',
      drained({ releasedAtMs: NOW, stoppedAtMs: NOW }),
      { kind: 'wait-until', untilMs: NOW + 30_000 },
    ],
    [
      'or as long as the longest job may run',
      drained({ releasedAtMs: NOW, stoppedAtMs: NOW, runningJobs: 1, latestDeadlineAtMs: NOW + 300_000 }),
      { kind: 'wait-until', untilMs: NOW + 310_000 },
    ],
    [
      'then kills',
      drained({ releasedAtMs: NOW - 30_000, stoppedAtMs: NOW - 30_000 }),
      { kind: 'kill', reason: 'the worker did not leave after SIGTERM' },
    ],
    [
      'and kills again where that had no effect',
      drained({ releasedAtMs: NOW - 60_000, stoppedAtMs: NOW - 60_000, killedAtMs: NOW - 10_000 }),
      { kind: 'kill', reason: 'the worker did not leave after SIGTERM' },
    ],
    [
      'gives back what was delivered and not finished',
      drained({ releasedAtMs: NOW, stoppedAtMs: NOW, runningJobs: 1 }, { container: EXITED }),
      { kind: 'give-back-jobs', isCharged: false, reason: 'worker exited with code 1' },
    ],
    ['has nothing to do without a container', absent({ desired: DRAINED }), { kind: 'wait-until', untilMs: null }],
  ])('%s', (...[, view, operation]) => {
    expect(planWorker(view, NOW).operation).toEqual(operation);
  });

  test('is reported until nothing is left', () => {
    expect(planWorker(drained(), NOW).condition.phase).toBe('draining');
    expect(planWorker(absent({ desired: DRAINED }), NOW).condition).toEqual({ phase: 'removed', reason: '' });
  });
});

describe('a container that has to be replaced', () => {
  test.each<[string, Partial<WorkerView>, string]>([
    ['because the worker asked for it', { session: sessionOf({ recycleReason: 'stopPod' }) }, 'stopPod'],
    [
      'because its release means another image of that name',
      { desired: desiredOf({ imageDigest: 'sha256:1' }), container: { ...RUNNING, imageDigest: 'sha256:2' } },
      'its release runs another image of that name',
    ],
    [
      'because whoever rules over its host has told it to end',
      { container: { ...RUNNING, isTakenAway: true } },
      'its host is being taken from it',
    ],
    ['because a restart was asked for', { desired: desiredOf({ generation: 1 }) }, 'restarted on request'],
  ])('%s is drained', (...[, fields, reason]) => {
    expect(planWorker(viewOf(fields), NOW)).toEqual({
      operation: { kind: 'release-parked-polls' },
      condition: { phase: 'draining', reason },
    });
  });

  test('because it was being drained when it was wanted again: it never gets a job', () => {
    const session = sessionOf({ releasedAtMs: NOW });
    expect(planWorker(viewOf({ session }), NOW)).toEqual({
      operation: { kind: 'stop' },
      condition: { phase: 'draining', reason: 'it was leaving when it was wanted again' },
    });
  });

  const RELEASED = { releasedAtMs: NOW, stoppedAtMs: NOW };
  const EVICTED = { ...EXITED, exitCode: null, isEvicted: true, reason: 'taken away by the cluster: its Pod is gone' };
  test.each<[string, Partial<WorkerView>, string]>([
    [
      'taken from its host',
      { container: EVICTED, session: sessionOf(RELEASED) },
      'taken away by the cluster: its Pod is gone',
    ],
    ['one that vanished', { container: { kind: 'absent' }, session: sessionOf(RELEASED) }, 'the container vanished'],
    [
      'one that vanished and has another in its place',
      { container: { ...RUNNING, containerId: 'c2' }, session: sessionOf(RELEASED) },
      'the container vanished',
    ],
    [
      'one whose record was lost',
      { desired: desiredOf({ generation: 3 }), session: sessionOf({ killReason: 'its record was lost' }) },
      'its record was lost',
    ],
    [
      'one whose restarts were counted anew',
      { desired: desiredOf({ generation: 1 }), journal: newJournal(2) },
      'the control plane counts its restarts anew',
    ],
    [
      'one for which a restart was asked, however it ended',
      { desired: desiredOf({ generation: 1 }), container: EXITED, session: sessionOf(RELEASED) },
      'restarted on request',
    ],
  ])('tells what befell it, and of a request only where there was one: %s', (...[, fields, reason]) => {
    expect(planWorker(viewOf(fields), NOW).condition).toEqual({ phase: 'draining', reason });
  });

  test('is killed at once for a job that does not let go', () => {
    const session = sessionOf({ runningJobs: 1, killReason: 'a cancelled job did not let go' });
    expect(planWorker(viewOf({ session }), NOW).operation).toEqual({
      kind: 'kill',
      reason: 'a cancelled job did not let go',
    });
  });
});

describe('a worker whose calls do not reach the bridge', () => {
  const MOVED = 'the address of the bridge has changed since the worker was started';
  const SILENT = 'the worker has not called the bridge since its agent was restarted';
  const adopted = (fields: Partial<ContainerSession> = {}): ContainerSession =>
    sessionOf({ isAdopted: true, hasCalled: false, openedAtMs: NOW, ...fields });
  const LATER = NOW + 60_000;

  test('because the bridge has moved is replaced at once', () => {
    expect(planWorker(viewOf({ session: adopted({ knowsBridge: false }) }), NOW)).toEqual({
      operation: { kind: 'release-parked-polls' },
      condition: { phase: 'draining', reason: MOVED },
    });
  });

  test('for whatever cause is replaced a minute after its adoption', () => {
    const view = viewOf({ session: adopted() });
    expect(planWorker(view, NOW)).toMatchObject({
      operation: { kind: 'wait-until', untilMs: LATER },
      condition: { phase: 'idle' },
    });
    expect(planWorker(view, LATER)).toEqual({
      operation: { kind: 'release-parked-polls' },
      condition: { phase: 'draining', reason: SILENT },
    });
  });

  test.each<[string, Partial<WorkerView>]>([
    ['one that has called', { session: adopted({ hasCalled: true }) }],
    ['one with a job in hand: not every SDK calls meanwhile', { session: adopted({ runningJobs: 1 }) }],
    ['one that was started by this agent', { session: adopted({ isAdopted: false }) }],
    ['a load-balanced one, which never calls', { desired: desiredOf({ endpointType: 'LOAD_BALANCER' }) }],
  ])('is not taken for %s', (_, fields) => {
    const view = viewOf({ session: adopted(), ...fields });
    expect(planWorker(view, LATER).operation).toEqual({ kind: 'wait-until', untilMs: null });
  });

  test('is judged by its initialization time as long as it has never been ready', () => {
    const view = viewOf({ session: adopted({ readyAtMs: null }) });
    expect(planWorker(view, LATER).operation).toEqual({ kind: 'wait-until', untilMs: NOW + 420_000 });
  });

  test('keeps no job: what it finishes nobody would hear of, so the drain waits for its grace only', () => {
    const session = { releasedAtMs: NOW, stoppedAtMs: NOW, runningJobs: 1, latestDeadlineAtMs: NOW + 300_000 };
    const view = viewOf({ session: adopted({ knowsBridge: false, ...session }) });
    expect(planWorker(view, NOW).operation).toEqual({ kind: 'wait-until', untilMs: NOW + 30_000 });
  });

  test('finishes its job where it has called all the same', () => {
    const session = { releasedAtMs: NOW, stoppedAtMs: NOW, runningJobs: 1, latestDeadlineAtMs: NOW + 300_000 };
    const view = viewOf({ session: adopted({ knowsBridge: false, hasCalled: true, ...session }) });
    expect(planWorker(view, NOW).operation).toEqual({ kind: 'wait-until', untilMs: NOW + 310_000 });
  });

  test('is left alone until it is known whether it is wanted', () => {
    const view = viewOf({ desired: null, isSynced: false, session: adopted({ knowsBridge: false }) });
    expect(planWorker(view, LATER).operation).toEqual({ kind: 'wait-until', untilMs: null });
  });
});

describe('a worker that stands still', () => {
  const NOT_ASKING = 'the worker has no job and has stopped asking for one';
  const still = (fields: Partial<ContainerSession> = {}): ContainerSession =>
    sessionOf({ notAskingSinceMs: NOW, ...fields });
  const LATER = NOW + 25_000;

  test('is replaced when it has not asked for a job for 25 s, however often it pings', () => {
    const view = viewOf({ session: still() });
    expect(planWorker(view, NOW)).toMatchObject({
      operation: { kind: 'wait-until', untilMs: LATER },
      condition: { phase: 'idle' },
    });
    expect(planWorker(view, LATER)).toEqual({
      operation: { kind: 'release-parked-polls' },
      condition: { phase: 'draining', reason: NOT_ASKING },
    });
  });

  test('has five seconds after SIGTERM, not the grace of one that works', () => {
    const stopped = still({ releasedAtMs: LATER, stoppedAtMs: LATER });
    expect(planWorker(viewOf({ session: stopped }), LATER).operation).toEqual({
      kind: 'wait-until',
      untilMs: LATER + 5_000,
    });
    expect(planWorker(viewOf({ session: stopped }), LATER + 5_000).operation.kind).toBe('kill');
  });

  test('is not taken for one that was released while it asked', () => {
    const leaving = still({ notAskingSinceMs: NOW, releasedAtMs: NOW, stoppedAtMs: NOW });
    expect(planWorker(viewOf({ session: leaving }), LATER + 4_000).operation).toEqual({
      kind: 'wait-until',
      untilMs: NOW + 30_000,
    });
  });

  test('has a minute after its adoption, in which it finds the bridge again', () => {
    const view = viewOf({ session: still({ isAdopted: true, openedAtMs: NOW }) });
    expect(planWorker(view, LATER).operation).toEqual({ kind: 'wait-until', untilMs: NOW + 60_000 });
    expect(planWorker(view, NOW + 60_000).condition).toEqual({ phase: 'draining', reason: NOT_ASKING });
  });

  test.each<[string, Partial<WorkerView>]>([
    ['one whose poll is held', { session: still({ notAskingSinceMs: null }) }],
    ['one with a job', { session: still({ runningJobs: 1 }) }],
    ['a load-balanced one, which never asks', { desired: desiredOf({ endpointType: 'LOAD_BALANCER' }) }],
  ])('is not taken for %s', (_, fields) => {
    const view = viewOf({ session: still(), ...fields });
    expect(planWorker(view, LATER).operation).toEqual({ kind: 'wait-until', untilMs: null });
  });

  test('is judged by its initialization time as long as it has never been ready', () => {
    const view = viewOf({ session: still({ readyAtMs: null, openedAtMs: NOW }) });
    expect(planWorker(view, LATER).operation).toEqual({ kind: 'wait-until', untilMs: NOW + 420_000 });
  });
});

describe('a worker that nobody lists', () => {
  const unlisted = { desired: null } as const;

  test('is killed all the same for a job that does not let go', () => {
    const session = sessionOf({ killReason: 'a cancelled job did not let go' });
    expect(planWorker(viewOf({ ...unlisted, isSynced: false, session }), NOW).operation.kind).toBe('kill');
  });

  test('is left alone until a complete list has come', () => {
    expect(planWorker(viewOf({ ...unlisted, isSynced: false }), NOW)).toMatchObject({
      operation: { kind: 'wait-until', untilMs: null },
      condition: { phase: 'idle' },
    });
  });

  test('is drained after its grace', () => {
    const seen = viewOf(unlisted);
    const journal = { ...newJournal(0), unwantedSinceMs: NOW };
    expect(planWorker(seen, NOW).operation).toEqual({ kind: 'write-journal', journal });
    const marked = { ...seen, journal };
    expect(planWorker(marked, NOW + 1).operation).toEqual({ kind: 'wait-until', untilMs: NOW + 60_000 });
    expect(planWorker(marked, NOW + 60_000).operation).toEqual({ kind: 'release-parked-polls' });
  });

  test('loses the mark when it is wanted again in time', () => {
    const journal = { ...newJournal(0), unwantedSinceMs: NOW };
    expect(planWorker(viewOf({ journal }), NOW).operation).toEqual({ kind: 'write-journal', journal: newJournal(0) });
  });

  const LEFT = { kind: 'absent', leftoverId: 'c9' } as const;
  const REMOVED = { operation: { kind: 'remove', containerId: 'c9' }, condition: { phase: 'draining' } } as const;
  test.each([
    ['is removed where nobody wants it', { ...unlisted }, REMOVED],
    ['is removed where it shall leave', { desired: DRAINED }, REMOVED],
    ['is removed where it was to be paused', { desired: desiredOf({ intent: 'paused' }) }, REMOVED],
    [
      'stays while nobody has said whether it is wanted',
      { ...unlisted, isSynced: false },
      { operation: { kind: 'wait-until', untilMs: null }, condition: { phase: 'waiting' } },
    ],
    ['is replaced where it is wanted', { preparation: 'done' as const }, { operation: { kind: 'start' } }],
  ])('whose container never began %s', (_, fields, plan) => {
    expect(planWorker(absent({ ...fields, container: LEFT }), NOW)).toMatchObject(plan);
  });

  test('is forgotten at once where nothing of it is left', () => {
    expect(planWorker(absent(unlisted), NOW)).toMatchObject({
      operation: { kind: 'forget' },
      condition: { phase: 'removed' },
    });
    expect(planWorker(absent({ ...unlisted, isSynced: false }), NOW)).toMatchObject({
      operation: { kind: 'wait-until', untilMs: null },
      condition: { phase: 'waiting' },
    });
  });
});
