import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ACCOUNT_LIMITS_DEFAULT } from '../account-limits/index.js';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { EndpointSpec, Flashboot } from '../endpoint/index.js';
import type { Host } from '../host/index.js';
import type { EndpointId, HostId, WorkerId } from '../ids.js';
import { GB_BYTES } from '../placement/index.js';
import { NO_DEMAND, type Demand } from '../scaling/index.js';
import type { Worker, WorkerIntent } from '../worker/index.js';
import { newFleetMemory } from './fleet-memory.js';
import { withOperation, type FleetOperation } from './fleet-operation.js';
import type { Fleet, FleetEndpoint } from './fleet.js';
import { planFleet, type FleetPlan } from './plan-fleet.js';

const NOW_MS = 10_000_000;

const hostOf = (index: number, vcpus: number): [HostId, Host] => {
  const id = `h${index}` as HostId;
  const inventory = {
    ...{ vcpus, isOvercommitted: false, memoryBytes: 1_000 * GB_BYTES, diskBytes: 10_000 * GB_BYTES, gpus: [] },
    ...{ areGpusSimulated: false, cudaVersion: null, runtime: 'process' as const, images: [], canPause: true },
  } as const;
  return [id, { id, name: id, intent: 'ready', dataCenterId: 'A', labels: {}, inventory, lastSeenAtMs: NOW_MS }];
};

const specOf = (flashboot: Flashboot, max: number, vcpuCount: number): EndpointSpec => ({
  ...{ name: 'echo', type: 'QUEUE', scaling: { type: 'REQUEST_COUNT', requestCount: 1 } },
  container: { image: 'echo', args: '', diskGb: null, env: {}, ports: [], registryId: null },
  ...{ workers: { min: 0, max, idleTimeoutSeconds: 5 }, gpu: null, cpu: [{ flavorId: 'cpu3c', vcpuCount }] },
  ...{ dataCenterIds: [], networkVolumeIds: [], flashboot, executionTimeoutMs: 300_000 },
});

interface Made {
  readonly id: string;
  readonly flashboot?: Flashboot;
  readonly account?: string;
  readonly max?: number;
  readonly vcpus?: number;
  readonly queued?: number;
}

const endpointOf = ({ account = 'a', flashboot = 'FLASHBOOT', id, max = 4, vcpus = 2 }: Made, index: number) =>
  ({
    ...{
      id: id as EndpointId,
      accountId: account as never,
      spec: specOf(flashboot, max, vcpus),
      release: 1,
      version: 1,
    },
    ...{ createdAtMs: index, deletedAtMs: null, lastDecision: null, volumeDataCenterIds: [] },
  }) satisfies FleetEndpoint;

interface Worked {
  readonly id: string;
  readonly of: string;
  readonly host?: number;
  readonly vcpus?: number;
  readonly idleForMs?: number;
  readonly intent?: WorkerIntent;
}

function workerOf({ host = 0, id, idleForMs = 60_000, intent = 'paused', of, vcpus = 2 }: Worked): Worker {
  const names = { workerId: id as WorkerId, endpointId: of as EndpointId };
  return {
    ...{ id: names.workerId, endpointId: names.endpointId, hostId: `h${host}` as HostId, release: 1, intent },
    ...{ createdAtMs: 0, ...(intent === 'paused' ? { leavesAfterIdleMs: 5_000 } : {}) },
    resources: { vcpus, memoryBytes: GB_BYTES, diskBytes: GB_BYTES, gpuTypeId: null, gpuCount: 0 },
    observed: {
      ...{ ...names, release: 1, phase: intent === 'paused' ? 'paused' : 'busy', reason: '', failedStarts: 0 },
      ...{ runningJobs: intent === 'running' ? 1 : 0, phaseSinceMs: 0, startedAtMs: 0, gpuTypeId: null },
      ...(intent === 'running' ? {} : { idleSinceMs: NOW_MS - idleForMs }),
    },
  };
}

interface Scene {
  readonly hosts: readonly number[];
  readonly endpoints: readonly Made[];
  readonly workers: readonly Worked[];
  /** Workers that each account may have; absent: the default. */
  readonly workersMax?: number;
}

const fleetOf = ({ endpoints, hosts, workers, workersMax }: Scene): Fleet => ({
  endpoints: endpoints.map(endpointOf),
  hosts: new Map(hosts.map((vcpus, index) => hostOf(index, vcpus))),
  workers: workers.map(workerOf),
  accountLimits: new Map(
    workersMax === undefined
      ? []
      : endpoints.map(({ account = 'a' }) => [account as never, { ...ACCOUNT_LIMITS_DEFAULT, workers: workersMax }]),
  ),
});

function planOf(fleet: Fleet, { endpoints }: Scene): FleetPlan {
  const queued = new Map(endpoints.map((each) => [each.id, each.queued ?? 0]));
  const demandOf = ({ id }: FleetEndpoint): Demand => {
    const waiting = queued.get(id) ?? 0;
    return { ...NO_DEMAND, queuedNormal: waiting, oldestQueuedAtMs: waiting === 0 ? null : NOW_MS };
  };
  let made = 0;
  const newWorkerId = (): WorkerId => `new-${(made += 1)}` as WorkerId;
  const memory = { ...newFleetMemory(NOW_MS - 60_000), lastLookMs: NOW_MS };
  return planFleet({ fleet, catalog: SHIPPED_CATALOG, demandOf, memory }, { nowMs: NOW_MS, newWorkerId });
}

const operationsOf = ({ endpoints }: FleetPlan): readonly FleetOperation[] =>
  endpoints.flatMap((each) => (each.kind === 'staff' ? each.operations : []));

const evicted = (plan: FleetPlan): readonly string[] =>
  operationsOf(plan).flatMap((each) =>
    each.kind === 'drain-worker' && each.reason === 'evicted' ? [each.workerId] : [],
  );

describe('a worker that only its account’s limit refuses', () => {
  const scene: Scene = {
    hosts: [100],
    endpoints: [
      { id: 'calm' },
      { id: 'priority', flashboot: 'PRIORITY_FLASHBOOT' },
      { id: 'busy', queued: 1 },
      { id: 'foreign', account: 'b' },
    ],
    workers: [
      { id: 'dear', of: 'priority', idleForMs: 99_000 },
      { id: 'theirs', of: 'foreign', idleForMs: 98_000 },
      { id: 'newer', of: 'calm', idleForMs: 60_000 },
      { id: 'older', of: 'calm', idleForMs: 90_000 },
    ],
    workersMax: 3,
  };
  const wanting = (more: Partial<Made>): readonly Made[] =>
    scene.endpoints.map((each) => (each.id === 'busy' ? { ...each, ...more } : each));

  test('comes by the least recently used paused one of its own account', () => {
    const fleet = fleetOf(scene);
    const plan = planOf(fleet, scene);
    expect(evicted(plan)).toEqual(['older']);
    const leaving = { ...fleet, workers: operationsOf(plan).reduce(withOperation, fleet.workers) };
    expect(operationsOf(planOf(leaving, scene))).toEqual([]);
    const gone = { ...leaving, workers: leaving.workers.filter(({ id }) => id !== 'older') };
    expect(operationsOf(planOf(gone, scene)).map(({ kind }) => kind)).toEqual(['create-worker']);
  });

  test.each<[string, Partial<Scene>]>([
    ['leaves those alone that may not be evicted', { workers: scene.workers.slice(0, 2), workersMax: 1 }],
    ['that has room evicts nobody', { workersMax: 4 }],
    ['evicts nobody where it has no place anyway', { hosts: [8], endpoints: wanting({ vcpus: 16 }) }],
    [
      'evicts nobody where others work in its place',
      {
        hosts: [102, 10],
        endpoints: wanting({ vcpus: 8 }),
        workers: [
          ...scene.workers,
          { id: 'working', of: 'foreign', vcpus: 94, intent: 'running' },
          { id: 'also', of: 'foreign', host: 1, vcpus: 4, intent: 'running' },
        ],
      },
    ],
  ])('%s', (_, more) => {
    const other = { ...scene, ...more };
    expect(evicted(planOf(fleetOf(other), other))).toEqual([]);
  });

  test.each<[string, readonly Worked[], readonly string[]]>([
    [
      'by one that makes room, not by an older one that makes none',
      [
        { id: 'older', of: 'calm', idleForMs: 90_000 },
        { id: 'newer', of: 'calm', host: 1, vcpus: 4, idleForMs: 60_000 },
      ],
      ['newer'],
    ],
    [
      'by one of its own, and one of others that makes room',
      [
        { id: 'older', of: 'calm', idleForMs: 90_000 },
        { id: 'newer', of: 'calm', idleForMs: 60_000 },
        { id: 'theirs', of: 'foreign', host: 1, vcpus: 4, idleForMs: 10_000 },
      ],
      ['older', 'theirs'],
    ],
  ])('comes, where no host has room, %s', (_, workers, expected) => {
    const full: Scene = { hosts: [2, 4], endpoints: wanting({ vcpus: 4 }), workers, workersMax: 2 };
    const fleet = fleetOf(full);
    const plan = planOf(fleet, full);
    expect(evicted(plan).toSorted()).toEqual(expected);
    const after = carriedOut(fleet, plan);
    const gone = { ...after, workers: after.workers.filter(({ intent }) => intent !== 'drained') };
    expect(operationsOf(planOf(gone, full)).map(({ kind }) => kind)).toEqual(['create-worker']);
  });
});

describe('a worker that is wanted and has no place', () => {
  const scene: Scene = {
    hosts: [4],
    endpoints: [{ id: 'calm' }, { id: 'busy', queued: 1 }],
    workers: [
      { id: 'newer', of: 'calm', idleForMs: 60_000 },
      { id: 'older', of: 'calm', idleForMs: 90_000 },
    ],
  };

  test('gets that of the least recently used paused one, which is named with its reason, and says so', () => {
    const plan = planOf(fleetOf(scene), scene);
    expect(operationsOf(plan)).toEqual([
      {
        ...{ kind: 'drain-worker', workerId: 'older', hostId: 'h0', reason: 'evicted', leavesAfterIdleMs: null },
        detail: 'its place goes to a worker of endpoint busy',
      },
    ]);
    const [waiting] = plan.endpoints.flatMap((each) => (each.kind === 'staff' && each.unplaced !== null ? [each] : []));
    expect(waiting?.unplaced?.why.hosts[0]?.detail).toContain('workers that leave it make room');
    expect(waiting?.waiting[0]?.hosts[0]?.reason).toContain('workers that leave it make room');
  });

  test('waits for those that leave already, and no other leaves for it', () => {
    const fleet = fleetOf({
      ...scene,
      workers: [scene.workers[0] as Worked, { id: 'older', of: 'calm', intent: 'drained' }],
    });
    const plan = planOf(fleet, scene);
    expect(operationsOf(plan)).toEqual([]);
    expect(JSON.stringify(plan.endpoints)).toContain('workers that leave it make room');
  });

  test('tells the account whose worker leaves nothing of another account', () => {
    const strangers = {
      ...scene,
      endpoints: [
        { id: 'calm', account: 'b' },
        { id: 'busy', queued: 1 },
      ],
    };
    expect(JSON.stringify(operationsOf(planOf(fleetOf(strangers), strangers)))).toContain(
      "its place goes to a worker of another account's endpoint",
    );
  });

  test('takes no more places than it needs, on one host, and none that does not help', () => {
    const large: Scene = {
      hosts: [4, 4],
      endpoints: [
        { id: 'calm', max: 9 },
        { id: 'busy', queued: 1, vcpus: 4 },
      ],
      workers: [
        { id: 'a', of: 'calm', host: 0, idleForMs: 900_000 },
        { id: 'b', of: 'busy', host: 0, intent: 'running' },
        { id: 'c', of: 'calm', host: 1, idleForMs: 50_000 },
        { id: 'd', of: 'calm', host: 1, idleForMs: 60_000 },
      ],
    };
    const two = { ...large, endpoints: [large.endpoints[0] as Made, { id: 'busy', queued: 2, vcpus: 4 }] };
    expect(evicted(planOf(fleetOf(two), two)).toSorted()).toEqual(['c', 'd']);
  });

  test('takes no place of an endpoint with priority', () => {
    const priority = {
      ...scene,
      endpoints: [{ id: 'calm', flashboot: 'PRIORITY_FLASHBOOT' } as const, { id: 'busy', queued: 1 }],
    };
    expect(operationsOf(planOf(fleetOf(priority), priority))).toEqual([]);
  });
});

const scenes: fc.Arbitrary<Scene> = fc.record({
  hosts: fc.array(fc.constantFrom(2, 4, 6, 8), { minLength: 1, maxLength: 3 }),
  endpoints: fc
    .array(
      fc.record({
        flashboot: fc.constantFrom('OFF' as const, 'FLASHBOOT' as const, 'PRIORITY_FLASHBOOT' as const),
        max: fc.integer({ min: 1, max: 5 }),
        vcpus: fc.constantFrom(2, 4, 8),
        queued: fc.nat(5),
      }),
      { minLength: 3, maxLength: 3 },
    )
    .map((made) => made.map((each, index) => ({ ...each, id: `e${index}` }))),
  workers: fc
    .array(
      fc.record({
        of: fc.constantFrom('e0', 'e1', 'e2'),
        host: fc.nat(2),
        vcpus: fc.constantFrom(1, 2, 4),
        idleForMs: fc.integer({ min: 10_000, max: 100_000 }),
        intent: fc.constantFrom('paused' as const, 'paused' as const, 'running' as const, 'drained' as const),
      }),
      { maxLength: 8 },
    )
    .map((made) => made.map((each, index) => ({ ...each, id: `w${index}` }))),
});

const carriedOut = (fleet: Fleet, plan: FleetPlan): Fleet => ({
  ...fleet,
  workers: operationsOf(plan).reduce(withOperation, fleet.workers),
});

test('only paused workers of endpoints with FLASHBOOT lose their place to others, each named once', () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      const fleet = fleetOf(scene);
      const plan = planOf(fleet, scene);
      expect(plan.failed.size).toBe(0);
      const named = operationsOf(plan).map((each) => (each.kind === 'create-worker' ? each.worker.id : each.workerId));
      expect(new Set(named).size).toBe(named.length);
      for (const id of evicted(plan)) {
        const worker = fleet.workers.find((each) => each.id === id);
        expect(worker?.intent).toBe('paused');
        expect(fleet.endpoints.find((each) => each.id === worker?.endpointId)?.spec.flashboot).toBe('FLASHBOOT');
      }
    }),
  );
});

test('whoever loses a place makes one: once those are gone, a worker that was wanted is placed on that host', () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      const fleet = fleetOf(scene);
      const plan = planOf(fleet, scene);
      const ids = new Set(evicted(plan));
      if (ids.size === 0) return;
      const after = carriedOut(fleet, plan);
      const hosts = new Set(after.workers.filter(({ id }) => ids.has(id)).map(({ hostId }) => hostId));
      const gone = { ...after, workers: after.workers.filter(({ intent }) => intent !== 'drained') };
      const placed = operationsOf(planOf(gone, scene)).flatMap((each) =>
        each.kind === 'create-worker' ? [each.worker.hostId] : [],
      );
      for (const hostId of hosts) expect(placed).toContain(hostId);
    }),
  );
});

test('a plan that was carried out is followed by one that takes no further place', () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      const fleet = fleetOf(scene);
      const first = planOf(fleet, scene);
      expect(evicted(planOf(carriedOut(fleet, first), scene))).toEqual([]);
    }),
  );
});

test('also at the limit of an account nobody leaves in vain, and the next plan takes no further place', () => {
  fc.assert(
    fc.property(scenes, fc.integer({ min: 1, max: 6 }), (made, workersMax) => {
      const scene = { ...made, workersMax };
      const fleet = fleetOf(scene);
      const plan = planOf(fleet, scene);
      if (evicted(plan).length === 0) return;
      const after = carriedOut(fleet, plan);
      expect(evicted(planOf(after, scene))).toEqual([]);
      const gone = { ...after, workers: after.workers.filter(({ intent }) => intent !== 'drained') };
      expect(operationsOf(planOf(gone, scene)).map(({ kind }) => kind)).toContain('create-worker');
    }),
  );
});

test('no endpoint gets more workers than its maximum, paused ones counted, and none is made while one is paused', () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      const fleet = fleetOf(scene);
      const after = carriedOut(fleet, planOf(fleet, scene));
      for (const { id, spec } of fleet.endpoints) {
        const before = fleet.workers.filter(({ endpointId, hostId }) => endpointId === id && fleet.hosts.has(hostId));
        const now = after.workers.filter(({ endpointId }) => endpointId === id);
        expect(now.length).toBeLessThanOrEqual(Math.max(spec.workers.max, before.length));
        const isMade = now.some((worker) => !fleet.workers.some((each) => each.id === worker.id));
        if (isMade) expect(now.filter(({ intent }) => intent === 'paused')).toEqual([]);
      }
    }),
  );
});

test('what evictions cost does not grow with the endpoints for which no worker can make room', () => {
  const looksWith = (endpoints: number): number => {
    const scene: Scene = {
      hosts: Array.from({ length: 40 }, () => 4),
      endpoints: [
        { id: 'idle', max: 1_000 },
        // More than any host has.
        ...Array.from({ length: endpoints }, (_, at) => ({ id: `e${at}`, vcpus: 8, queued: 1 })),
      ],
      workers: Array.from({ length: 80 }, (_, at) => ({ id: `w${at}`, of: 'idle', host: at % 40 })),
    };
    const fleet = fleetOf(scene);
    let looks = 0;
    const hosts = Object.assign(new Map(fleet.hosts), {
      get: (id: HostId) => {
        looks += 1;
        return fleet.hosts.get(id);
      },
    });
    planOf({ ...fleet, hosts }, scene);
    return looks;
  };
  expect(looksWith(60)).toBe(looksWith(1));
});
