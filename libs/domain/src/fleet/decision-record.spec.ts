import { describe, expect, test } from '@jest/globals';
import type { EndpointId, HostId, WorkerId } from '../ids.js';
import { NO_DEMAND } from '../scaling/index.js';
import type { Worker, WorkerPhase } from '../worker/index.js';
import { describeDecision } from './decision-record.js';
import type { EndpointPlan } from './endpoint-plan.js';
import type { ScalingRecord } from './fleet.js';
import type { FleetOperation } from './fleet-operation.js';

type StaffPlan = EndpointPlan & { readonly kind: 'staff' };

const NOW_MS = 10_000;
const ENDPOINT = 'e' as EndpointId;
const WAITING = { reason: 'vcpu', detail: '', since: '1970-01-01T00:00:00.000Z', hosts: [] };
const LAST: ScalingRecord = {
  ...{
    endpointId: ENDPOINT,
    desired: 2,
    reason: 'demand',
    detail: '2 queued',
    waiting: [],
    unplaced: 0,
    starts: null,
    decidedAtMs: 1,
  },
};

const planOf = (more: Partial<StaffPlan> = {}, last: ScalingRecord | null = LAST, deletedAtMs: number | null = null) =>
  ({
    kind: 'staff',
    endpoint: { id: ENDPOINT, lastDecision: last, deletedAtMs },
    decision: { desiredWorkers: 2, reason: 'demand', detail: '3 queued', memory: {}, recheckAtMs: null },
    demand: { ...NO_DEMAND, queuedNormal: 3, queuedLow: 4, running: 1, oldestQueuedAtMs: 7_500.4 },
    ...{ operations: [], waiting: [], unplaced: null },
    ...more,
  }) as unknown as StaffPlan;

const workerIn = (phase: WorkerPhase | null): Worker =>
  ({ id: 'w' as WorkerId, observed: phase === null ? null : { phase } }) as unknown as Worker;

const DRAIN: FleetOperation = {
  ...{ kind: 'drain-worker', workerId: 'w' as WorkerId, hostId: 'h' as HostId },
  ...{ reason: 'scale-down', leavesAfterIdleMs: null },
};

const recorded = (plan: StaffPlan, done: readonly FleetOperation[] = []) =>
  describeDecision(plan, { before: [workerIn('idle'), workerIn('idle'), workerIn(null)], done }, NOW_MS);

test('tells what was decided, what it rested on and what followed', () => {
  const unplaced = { count: 60, why: { kind: 'unplaced', reason: 'vcpu', detail: '', hosts: [] } } as const;
  const decision = { ...planOf().decision, desiredWorkers: 3 };
  expect(recorded(planOf({ decision, unplaced, waiting: [WAITING] }), [DRAIN])).toEqual({
    ...{ endpointId: ENDPOINT, atMs: NOW_MS, desiredBefore: 2, desired: 3, reason: 'demand', detail: '3 queued' },
    inputs: {
      demand: { queued: 3, queuedLow: 4, running: 1, oldestWaitMs: 2_500 },
      workers: { idle: 2, placed: 1 },
    },
    outcome: {
      ...{ created: 0, drained: 1, evicted: 0, paused: 0, resumed: 0, forgotten: 0 },
      ...{ unplaced: 60, unplacedReason: 'vcpu' },
    },
  });
});

test('counts what was paused, resumed and evicted', () => {
  const of = { workerId: 'w' as WorkerId, hostId: 'h' as HostId };
  const done: readonly FleetOperation[] = [
    { ...of, kind: 'pause-worker', reason: 'scale-down', pausesAfterIdleMs: 1 },
    { ...of, kind: 'resume-worker', reason: 'wanted' },
    { ...of, kind: 'drain-worker', reason: 'evicted', leavesAfterIdleMs: null },
    DRAIN,
  ];
  expect(recorded(planOf(), done)?.outcome).toMatchObject({ drained: 2, evicted: 1, paused: 1, resumed: 1 });
  expect(recorded(planOf(), done.slice(0, 1))?.outcome).toMatchObject({ drained: 0, paused: 1 });
});

test('unknown demand is not none', () => {
  const decision = { ...planOf().decision, reason: 'demand-unknown' as const };
  expect(recorded(planOf({ decision, demand: null }))?.inputs.demand).toBeNull();
});

describe('an entry is made', () => {
  test.each<[string, StaffPlan, readonly FleetOperation[]]>([
    ['of the first decision', planOf({}, null), []],
    ['when the number changes', planOf({}, { ...LAST, desired: 1 }), []],
    ['when the reason changes', planOf({}, { ...LAST, reason: 'idle-grace' }), []],
    ['when something was done', planOf(), [DRAIN]],
    ['when a worker waits for a place', planOf({ waiting: [WAITING] }), []],
    ['when none waits any more', planOf({}, { ...LAST, waiting: [WAITING] }), []],
    [
      'when it waits for another reason',
      planOf({ waiting: [WAITING] }, { ...LAST, waiting: [{ ...WAITING, reason: 'no-hosts' }] }),
      [],
    ],
  ])('%s', (...[, plan, done]) => {
    expect(recorded(plan, done)).not.toBeNull();
  });

  test.each<[string, StaffPlan]>([
    ['while only the numbers of the sentence change', planOf()],
    [
      'while the same workers wait',
      planOf({ waiting: [WAITING] }, { ...LAST, waiting: [{ ...WAITING, detail: 'x' }] }),
    ],
    ['of a deleted endpoint', planOf({}, null, 1)],
  ])('not %s', (_what, plan) => {
    expect(recorded(plan)).toBeNull();
  });
});
