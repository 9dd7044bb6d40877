import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EndpointId, HostId, WorkerId } from '../ids.js';
import { observeWorker } from './agent-plan/observe-worker.js';
import { planEndpoint, type EndpointView } from './plan-endpoint.js';
import { planWorker } from './agent-plan/plan-worker.js';
import { newJournal } from './agent-plan/worker-journal.js';
import type { WantedWorker, ContainerSession, WorkerView } from './agent-plan/worker-view.js';
import type { Worker } from './worker.js';

const T0 = 1_000_000_000;
const IDLE_TIMEOUT_MS = 6_000;
const W1 = 'w1' as WorkerId;
const E1 = 'e1' as EndpointId;

const sessionOf = (fields: Partial<ContainerSession> = {}): ContainerSession => ({
  containerId: 'c1',
  openedAtMs: T0 - 100_000,
  isAdopted: false,
  knowsBridge: true,
  hasCalled: true,
  readyAtMs: T0 - 90_000,
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

const drainedView = (session: Partial<ContainerSession>, desired: Partial<WantedWorker> = {}): WorkerView => ({
  desired: {
    intent: 'drained',
    endpointType: 'QUEUE',
    generation: 0,
    initTimeoutMs: 420_000,
    stopGraceMs: 30_000,
    leavesAfterIdleMs: IDLE_TIMEOUT_MS,
    ...desired,
  },
  isSynced: true,
  container: { kind: 'running', containerId: 'c1', startedAtMs: T0 - 100_000 },
  preparation: 'done',
  session: sessionOf(session),
  journal: newJournal(0),
});

describe('an agent that is told to let a worker go for want of jobs', () => {
  test('keeps it until its last job has been over for the idle time, by its own clock', () => {
    const view = drainedView({ lastJobEndedAtMs: T0 });
    expect(planWorker(view, T0 + 5_100)).toEqual({
      operation: { kind: 'wait-until', untilMs: T0 + IDLE_TIMEOUT_MS },
      condition: { phase: 'idle', reason: '' },
    });
    expect(planWorker(view, T0 + IDLE_TIMEOUT_MS).operation).toEqual({ kind: 'release-parked-polls' });
  });

  test('keeps it while it has a job that the decision did not know of', () => {
    const { operation, condition } = planWorker(drainedView({ runningJobs: 1, lastJobEndedAtMs: T0 - 60_000 }), T0);
    expect([operation, condition.phase]).toEqual([{ kind: 'wait-until', untilMs: null }, 'busy']);
  });

  test('counts from its own restart where it cannot know what the worker had a moment before', () => {
    const view = drainedView({ isAdopted: true, openedAtMs: T0 });
    expect(planWorker(view, T0 + 1).operation).toEqual({ kind: 'wait-until', untilMs: T0 + IDLE_TIMEOUT_MS });
  });

  test.each<[string, WorkerView]>([
    ['has never had a job', drainedView({})],
    ['was released already', drainedView({ lastJobEndedAtMs: T0, releasedAtMs: T0, stoppedAtMs: null })],
    ['asked to be replaced', drainedView({ lastJobEndedAtMs: T0, recycleReason: 'stopPod' })],
  ])('lets one go at once that %s', (_, view) => {
    expect(planWorker(view, T0).condition.phase).toBe('draining');
  });

  test('lets one go at once where the drain is for another reason', () => {
    const view = drainedView({ lastJobEndedAtMs: T0 });
    const { leavesAfterIdleMs: _, ...desired } = view.desired!;
    expect(planWorker({ ...view, desired }, T0).operation).toEqual({ kind: 'release-parked-polls' });
  });
});

const workerOf = (fields: Partial<Worker> = {}): Worker => ({
  id: W1,
  endpointId: E1,
  hostId: 'h1' as HostId,
  release: 1,
  intent: 'running',
  createdAtMs: 0,
  resources: { vcpus: 1, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 },
  observed: {
    workerId: W1,
    endpointId: E1,
    release: 1,
    phase: 'idle',
    reason: '',
    runningJobs: 0,
    failedStarts: 0,
    phaseSinceMs: 0,
    startedAtMs: null,
    gpuTypeId: null,
  },
  ...fields,
});

const withEnd = (worker: Worker, idleSinceMs: number): Worker => ({
  ...worker,
  observed: worker.observed === null ? null : { ...worker.observed, idleSinceMs },
});

const planAt = (worker: Worker, desiredWorkers: number, nowMs: number) => planOf(worker, { desiredWorkers }, nowMs);

const planOf = (worker: Worker, fields: Partial<EndpointView>, nowMs: number) =>
  planEndpoint(
    {
      isDeleted: false,
      release: 1,
      desiredWorkers: 0,
      workersMax: 1,
      workers: [{ worker, host: { intent: 'ready', lastSeenAtMs: nowMs } }],
      observingSinceMs: 0,
      idleTimeoutMs: IDLE_TIMEOUT_MS,
      ...fields,
    },
    nowMs,
  );

describe('the plan of an endpoint whose demand is gone', () => {
  test('drains a worker when its last job has been over for the idle time, and says so to its agent', () => {
    const worker = withEnd(workerOf(), T0);
    expect(planAt(worker, 0, T0 + IDLE_TIMEOUT_MS - 1)).toEqual([]);
    expect(planAt(worker, 0, T0 + IDLE_TIMEOUT_MS)).toEqual([
      { kind: 'drain-worker', workerId: W1, reason: 'scale-down', leavesAfterIdleMs: IDLE_TIMEOUT_MS },
    ]);
  });

  test('drains one that is above the maximum at once, whatever it did a moment ago', () => {
    expect(planOf(withEnd(workerOf(), T0), { workersMax: 0 }, T0)).toEqual([
      { kind: 'drain-worker', workerId: W1, reason: 'scale-down' },
    ]);
  });

  test('takes the drain of one that still lingers back when it is wanted again, rather than starting another', () => {
    const lingering = workerOf({ intent: 'drained', leavesAfterIdleMs: IDLE_TIMEOUT_MS });
    expect(planAt(lingering, 0, T0)).toEqual([]);
    expect(planAt(lingering, 1, T0)).toEqual([{ kind: 'resume-worker', workerId: W1 }]);
    const leaving = { ...lingering, observed: { ...lingering.observed!, phase: 'draining' as const } };
    expect(planOf(leaving, { desiredWorkers: 1, workersMax: 2 }, T0)).toEqual([{ kind: 'create-worker', release: 1 }]);
  });
});

/** Jobs as they come and go, and how late the decision hears of each, by clocks that differ. */
const story = fc.record({
  skewMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
  reportDelayMs: fc.nat(2_000),
  drainDelayMs: fc.nat(2_000),
  jobs: fc.array(fc.record({ afterMs: fc.nat(9_000), takesMs: fc.nat(3_000) }), { maxLength: 6 }),
});

const STEP_MS = 250;

test('a worker leaves for want of jobs no sooner than the idle time after its last one, however late anybody heard of it', () => {
  fc.assert(
    fc.property(story, ({ drainDelayMs, jobs, reportDelayMs, skewMs }) => {
      let startMs = T0;
      const runs = jobs.map(({ afterMs, takesMs }) => {
        const run = { fromMs: startMs + afterMs, toMs: startMs + afterMs + takesMs };
        startMs = run.toMs;
        return run;
      });
      const host = (atMs: number): ContainerSession => {
        const ended = runs.filter(({ toMs }) => toMs <= atMs);
        const running = runs.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
        const last = ended.at(-1);
        return sessionOf({
          openedAtMs: T0 + skewMs,
          readyAtMs: T0 + skewMs,
          runningJobs: running.length,
          lastJobEndedAtMs: last === undefined ? null : last.toMs + skewMs,
        });
      };
      let toldAtMs: number | null = null;
      for (let nowMs = T0; nowMs < T0 + 120_000; nowMs += STEP_MS) {
        // The control plane sees the host as it was, and wants nothing at all.
        const seenAtMs = nowMs - reportDelayMs;
        const view = { ...drainedView({}), session: host(seenAtMs) };
        const identity = { workerId: W1, endpointId: E1, release: 1, gpuTypeId: null };
        const condition = { phase: view.session.runningJobs > 0 ? ('busy' as const) : ('idle' as const), reason: '' };
        const observed = observeWorker(identity, { view, condition, previous: null }, seenAtMs + skewMs);
        const since = observed.lastJobEndedAtMs;
        const onOwnClock = since === undefined ? {} : { idleSinceMs: nowMs - (seenAtMs + skewMs - since) };
        const worker = workerOf({ observed: { ...observed, ...onOwnClock } });
        if (toldAtMs === null && planAt(worker, 0, nowMs).length > 0) toldAtMs = nowMs + drainDelayMs;
        if (toldAtMs === null || nowMs < toldAtMs) continue;
        const agent = { ...drainedView({}), session: host(nowMs) };
        if (planWorker(agent, nowMs + skewMs).operation.kind !== 'release-parked-polls') continue;
        const last = runs.filter(({ fromMs }) => fromMs <= nowMs).at(-1);
        if (last !== undefined) expect(nowMs - last.toMs).toBeGreaterThanOrEqual(IDLE_TIMEOUT_MS);
        return;
      }
    }),
  );
});
