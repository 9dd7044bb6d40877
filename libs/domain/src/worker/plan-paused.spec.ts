import { describe, expect, test } from '@jest/globals';
import type { EndpointId, HostId, WorkerId } from '../ids.js';
import type { HostedWorker } from './hosted-worker.js';
import { planWithPaused, type PausableView, type PausingOperation } from './plan-paused.js';
import { newReleaseStarts, type ReleaseStarts } from './rollout/release-starts.js';
import type { Worker, WorkerIntent, WorkerPhase } from './worker.js';

const NOW = 10_000_000;
const IDLE_MS = 10_000;
const endpointId = 'e' as EndpointId;

interface Given {
  readonly intent?: WorkerIntent;
  readonly phase?: WorkerPhase;
  readonly idleForMs?: number;
  readonly release?: number;
  readonly canPause?: boolean;
  readonly hostIntent?: 'ready' | 'draining';
}

function worker(id: string, given: Given = {}): HostedWorker {
  const { canPause = true, hostIntent = 'ready', idleForMs = 60_000, intent = 'running', release = 1 } = given;
  const phase = given.phase ?? (intent === 'paused' ? 'paused' : 'idle');
  const inventory = {
    ...{ vcpus: 8, isOvercommitted: false, memoryBytes: 1, diskBytes: 1, gpus: [], areGpusSimulated: false },
    ...{ cudaVersion: null, runtime: 'docker' as const, images: [], canPause },
  } as const;
  const hosted: Worker = {
    ...{ id: id as WorkerId, endpointId, hostId: 'h' as HostId, release, intent, createdAtMs: 0 },
    resources: { vcpus: 1, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 },
    ...(intent === 'paused' ? { leavesAfterIdleMs: IDLE_MS } : {}),
    observed: {
      ...{ workerId: id as WorkerId, endpointId, release, phase, reason: '', runningJobs: 0, failedStarts: 0 },
      ...{ phaseSinceMs: 0, startedAtMs: 0, gpuTypeId: null, idleSinceMs: NOW - idleForMs },
    },
  };
  return { worker: hosted, host: { intent: hostIntent, lastSeenAtMs: NOW, inventory } };
}

const viewOf = (workers: readonly HostedWorker[], fields: Partial<PausableView> = {}): PausableView => ({
  ...{ flashboot: 'FLASHBOOT', isDeleted: false, release: 1, desiredWorkers: 0, workersMax: 3 },
  ...{ workers, observingSinceMs: 0, idleTimeoutMs: IDLE_MS },
  ...fields,
});

function lineOf(operation: PausingOperation): string {
  if (operation.kind === 'create-worker') return 'create';
  const after = operation.kind === 'pause-worker' ? operation.pausesAfterIdleMs : '';
  const reason = operation.kind === 'drain-worker' || operation.kind === 'forget-worker' ? operation.reason : after;
  return `${operation.kind.split('-')[0] ?? ''} ${operation.workerId} ${reason}`.trim();
}

const plan = (workers: readonly HostedWorker[], fields: Partial<PausableView> = {}): readonly string[] =>
  planWithPaused(viewOf(workers, fields), NOW).map(lineOf);

describe('an endpoint with flashboot', () => {
  test.each(['FLASHBOOT', 'PRIORITY_FLASHBOOT'] as const)(
    'pauses what has been idle for long enough (%s)',
    (flashboot) => {
      expect(plan([worker('a')], { flashboot })).toEqual(['pause a 10000']);
      expect(plan([worker('a', { idleForMs: 5_000 })], { flashboot })).toEqual([]);
    },
  );

  test.each<[string, Given, Partial<PausableView>]>([
    ['without flashboot', {}, { flashboot: 'OFF' }],
    ['whose host cannot pause', { canPause: false }, {}],
    ['that has not come up', { phase: 'preparing' }, {}],
  ])('drains a worker %s as before', (_, given, fields) => {
    expect(plan([worker('a', given)], fields)).toEqual(['drain a scale-down']);
  });

  test('resumes before it creates: those that still run first, then the ones used last', () => {
    const paused = [
      worker('old', { intent: 'paused', idleForMs: 900_000 }),
      worker('new', { intent: 'paused', idleForMs: 100_000 }),
      worker('warm', { intent: 'paused', phase: 'idle', idleForMs: 950_000 }),
    ];
    expect(plan(paused, { desiredWorkers: 1 })).toEqual(['resume warm']);
    expect(plan(paused, { desiredWorkers: 2 })).toEqual(['resume warm', 'resume new']);
    expect(plan(paused, { desiredWorkers: 5, workersMax: 5 })).toEqual([
      ...['resume warm', 'resume new', 'resume old'],
      ...['create', 'create'],
    ]);
  });

  test('resumes whoever is wanted alone, also where another one is idle, and lets it stay meanwhile', () => {
    const [idle, wanted] = [worker('idle'), worker('wanted', { intent: 'paused', idleForMs: 900_000 })];
    const fields = { desiredWorkers: 1, strictIds: new Set(['wanted' as WorkerId, 'of-another' as WorkerId]) };
    const resumed = worker('wanted', { idleForMs: 900_000 });
    expect(plan([idle, wanted], fields)).toEqual(['resume wanted']);
    expect(plan([wanted, worker('warm', { intent: 'paused', phase: 'idle' })], fields)).toEqual(['resume wanted']);
    expect(plan([idle, resumed], { ...fields, desiredWorkers: 0 })).toEqual(['pause idle 10000']);
    expect(plan([idle, resumed])).toEqual(['pause idle 10000', 'pause wanted 10000']);
  });

  test.each<[string, Given, Partial<PausableView>, readonly string[]]>([
    ['there is no room for it in the maximum', {}, { workersMax: 1 }, ['drain wanted scale-down']],
    ['its host is drained', { hostIntent: 'draining' }, {}, ['drain wanted host-draining']],
    ['its agent replaces it', { phase: 'preparing' }, {}, []],
    [
      'its endpoint is deleted',
      {},
      { isDeleted: true },
      ['drain busy endpoint-deleted', 'drain wanted endpoint-deleted'],
    ],
  ])('does not resume one that is wanted alone where %s', (...[, given, fields, expected]) => {
    const workers = [worker('busy', { phase: 'busy' }), worker('wanted', { intent: 'paused', ...given })];
    expect(plan(workers, { desiredWorkers: 1, strictIds: new Set(['wanted' as WorkerId]), ...fields })).toEqual(
      expected,
    );
  });

  test('counts paused ones in its maximum, and lets the least recently used go above it', () => {
    const paused = [worker('b', { intent: 'paused', idleForMs: 100_000 }), worker('a', { intent: 'paused' })];
    expect(plan([...paused, worker('c', { phase: 'busy' })], { desiredWorkers: 1, workersMax: 2 })).toEqual([
      'drain b scale-down',
    ]);
    const replaced = worker('r', { intent: 'paused', phase: 'draining' });
    expect(plan([replaced], { desiredWorkers: 1, workersMax: 1 })).toEqual([]);
  });

  test.each<{ of: string; given?: Given; fields?: Partial<PausableView>; reason: string }>([
    { of: 'a host that is drained', given: { hostIntent: 'draining' }, reason: 'host-draining' },
    { of: 'a deleted endpoint', fields: { isDeleted: true }, reason: 'endpoint-deleted' },
    { of: 'an endpoint whose flashboot is off by now', fields: { flashboot: 'OFF' }, reason: 'flashboot-off' },
    { of: 'a host that cannot pause by now', given: { canPause: false }, reason: 'flashboot-off' },
  ])('drains a paused worker of $of at once', ({ fields = {}, given = {}, reason }) => {
    expect(plan([worker('a', { intent: 'paused', ...given })], fields)).toEqual([`drain a ${reason}`]);
  });

  test('forgets a paused worker that is gone', () => {
    expect(plan([worker('a', { intent: 'paused', phase: 'removed' })])).toEqual(['forget a removed']);
  });
});

describe('a paused worker of an older release', () => {
  const old = (id: string, idleForMs = 60_000): HostedWorker => worker(id, { intent: 'paused', idleForMs });
  const of = (fields: Partial<ReleaseStarts>): Partial<PausableView> => ({
    release: 2,
    starts: { ...newReleaseStarts(2), ...fields },
  });
  const UNPROVEN = of({});
  const HALTED = of({ failedStarts: 5, loopingSinceMs: 1 });

  test.each<[string, Partial<PausableView>, readonly string[]]>([
    ['stays while nobody wants a worker', UNPROVEN, []],
    ['stays while the rollout is halted', HALTED, []],
    ['serves again where it is wanted alone', { ...HALTED, strictIds: new Set(['a' as WorkerId]) }, ['resume a']],
    ['serves again beside the first of the latest release', { ...UNPROVEN, desiredWorkers: 1 }, ['resume a', 'create']],
    ['serves again while the rollout is halted', { ...HALTED, desiredWorkers: 1 }, ['resume a', 'create']],
    [
      'makes room for the first at the maximum',
      { ...UNPROVEN, desiredWorkers: 1, workersMax: 1 },
      ['drain a stale-release'],
    ],
    ['leaves once one of the latest has been up', of({ hasBeenUp: true }), ['drain a stale-release']],
    ['leaves when flashboot is off', { ...UNPROVEN, flashboot: 'OFF' }, ['drain a flashboot-off']],
    ['leaves with its endpoint', { ...UNPROVEN, isDeleted: true }, ['drain a endpoint-deleted']],
    ['leaves when there are too many', { ...UNPROVEN, workersMax: 0 }, ['drain a scale-down']],
  ])('%s', (_, fields, expected) => {
    expect(plan([old('a')], fields)).toEqual(expected);
  });

  test('only the least recently used one makes room; another serves meanwhile', () => {
    const both = [old('a', 90_000), old('b', 80_000)];
    expect(plan(both, { ...UNPROVEN, desiredWorkers: 2, workersMax: 2 })).toEqual([
      'drain a stale-release',
      'resume b',
    ]);
    const leaving = { ...both[0], worker: { ...both[0]?.worker, intent: 'drained', leavesAfterIdleMs: undefined } };
    const later = [
      leaving as unknown as HostedWorker,
      { ...both[1], worker: { ...both[1]?.worker, intent: 'running' } } as HostedWorker,
    ];
    expect(plan(later, { ...UNPROVEN, desiredWorkers: 2, workersMax: 2 })).toEqual([]);
  });

  test('that is idle makes room after those that are paused', () => {
    const workers = [worker('idle'), old('paused')];
    expect(plan(workers, { ...UNPROVEN, desiredWorkers: 1, workersMax: 2 })).toEqual(['drain paused stale-release']);
  });
});
