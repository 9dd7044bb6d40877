import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { EndpointSpec } from '../endpoint/index.js';
import type { Host, Inventory } from '../host/index.js';
import { ACCOUNT_LIMITS_DEFAULT } from '../account-limits/index.js';
import type { AccountId, EndpointId, HostId, WorkerId } from '../ids.js';
import { GB_BYTES } from '../placement/index.js';
import { NO_DEMAND, type Demand } from '../scaling/index.js';
import type { Worker, WorkerPhase } from '../worker/index.js';
import { newFleetMemory, type FleetMemory } from './fleet-memory.js';
import { withOperation, workerIdOf, type FleetOperation } from './fleet-operation.js';
import type { Fleet, FleetEndpoint } from './fleet.js';
import { planFleet, type FleetPlan } from './plan-fleet.js';

const NOW_MS = 10_000_000;

const inventory = (vcpus: number): Inventory => ({
  ...{ vcpus, isOvercommitted: false, memoryBytes: 1_000 * GB_BYTES, diskBytes: 10_000 * GB_BYTES },
  ...{ gpus: [], areGpusSimulated: false, cudaVersion: null, runtime: 'process', images: [] },
});

const hosts: fc.Arbitrary<ReadonlyMap<HostId, Host>> = fc
  .array(
    fc.record({
      vcpus: fc.integer({ min: 1, max: 24 }),
      intent: fc.constantFrom('ready' as const, 'ready' as const, 'cordoned' as const, 'draining' as const),
      silentMs: fc.constantFrom(0, 1_000, 11_000),
    }),
    { maxLength: 4 },
  )
  .map(
    (made) =>
      new Map(
        made.map(({ intent, silentMs, vcpus }, index): [HostId, Host] => {
          const id = `h${index}` as HostId;
          const place = { dataCenterId: 'A', labels: {}, inventory: inventory(vcpus), lastSeenAtMs: NOW_MS - silentMs };
          return [id, { id, name: id, intent, ...place }];
        }),
      ),
  );

const specOf = (min: number, max: number, vcpuCount: number): EndpointSpec => ({
  ...{ name: 'echo', type: 'QUEUE', scaling: { type: 'REQUEST_COUNT', requestCount: 1 } },
  container: { image: 'echo', args: '', diskGb: null, env: {}, ports: [], registryId: null },
  ...{ workers: { min, max, idleTimeoutSeconds: null }, gpu: null, cpu: [{ flavorId: 'cpu3c', vcpuCount }] },
  ...{ dataCenterIds: [], networkVolumeIds: [], flashboot: 'OFF', executionTimeoutMs: 300_000 },
});

const PHASES: readonly WorkerPhase[] = ['preparing', 'idle', 'busy', 'draining', 'waiting', 'unhealthy', 'removed'];

interface Drawn {
  readonly fleet: Fleet;
  readonly demand: ReadonlyMap<EndpointId, Demand | null>;
}

const endpoint = fc.record({
  min: fc.integer({ min: 0, max: 2 }),
  more: fc.integer({ min: 0, max: 4 }),
  vcpus: fc.constantFrom(2, 4, 8),
  release: fc.integer({ min: 1, max: 2 }),
  isDeleted: fc.boolean(),
  account: fc.constantFrom('a', 'b', 'c'),
  queued: fc.option(fc.integer({ min: 0, max: 8 })),
  workers: fc.array(
    fc.record({
      host: fc.integer({ min: 0, max: 4 }),
      release: fc.integer({ min: 1, max: 2 }),
      phase: fc.option(fc.constantFrom(...PHASES)),
      intent: fc.constantFrom('running' as const, 'running' as const, 'drained' as const),
      failedStarts: fc.constantFrom(0, 0, 5),
    }),
    { maxLength: 5 },
  ),
});

const LIMITS = new Map([['c' as AccountId, { ...ACCOUNT_LIMITS_DEFAULT, workers: 2 }]]);

const fleets: fc.Arbitrary<Drawn> = fc.tuple(hosts, fc.array(endpoint, { maxLength: 4 })).map(([machines, drawn]) => {
  const ids = drawn.map((_, index) => `e${index}` as EndpointId);
  const endpoints = drawn.map(({ account, isDeleted, min, more, release, vcpus }, index): FleetEndpoint => ({
    ...{ id: ids[index] as EndpointId, accountId: account as AccountId, spec: specOf(min, min + more, vcpus), release },
    ...{ version: 1, createdAtMs: index, deletedAtMs: isDeleted ? NOW_MS - 1 : null },
    ...{ lastDecision: null, volumeDataCenterIds: [] },
  }));
  const workers = drawn.flatMap((each, index) =>
    each.workers.map(({ failedStarts, host, intent, phase, release }, position): Worker => {
      const endpointId = ids[index] as EndpointId;
      const id = `${endpointId}-w${position}` as WorkerId;
      const told = {
        reason: '',
        runningJobs: Number(phase === 'busy'),
        failedStarts,
        phaseSinceMs: 0,
        startedAtMs: null,
      };
      const observed = phase === null ? null : { workerId: id, endpointId, release, phase, ...told, gpuTypeId: null };
      const resources = { vcpus: 0, memoryBytes: 0, diskBytes: 0, gpuTypeId: null, gpuCount: 0 };
      return {
        id,
        endpointId,
        hostId: `h${host}` as HostId,
        release,
        intent,
        createdAtMs: position,
        resources,
        observed,
      };
    }),
  );
  const demand = new Map(
    drawn.map(({ queued }, index): [EndpointId, Demand | null] => {
      const asked = { ...NO_DEMAND, queuedNormal: queued ?? 0, oldestQueuedAtMs: queued === 0 ? null : NOW_MS };
      return [ids[index] as EndpointId, queued === null ? null : asked];
    }),
  );
  return { fleet: { endpoints, hosts: machines, workers, accountLimits: LIMITS }, demand };
});

function plan({ demand, fleet }: Drawn, memory: FleetMemory = newFleetMemory(NOW_MS - 60_000)): FleetPlan {
  let made = 0;
  const heard = { ...memory, lastLookMs: NOW_MS };
  const newWorkerId = (): WorkerId => `new-${(made += 1)}` as WorkerId;
  const demandOf = ({ id }: FleetEndpoint): Demand | null => demand.get(id) ?? null;
  return planFleet({ fleet, catalog: SHIPPED_CATALOG, demandOf, memory: heard }, { nowMs: NOW_MS, newWorkerId });
}

const operationsOf = ({ endpoints }: FleetPlan): readonly FleetOperation[] =>
  endpoints.flatMap((each) => (each.kind === 'staff' ? each.operations : []));

const carriedOut = (fleet: Fleet, made: FleetPlan): Fleet => ({
  ...fleet,
  workers: operationsOf(made).reduce(withOperation, fleet.workers),
});

test('a plan that was carried out is followed by one without operations: it may be made twice', () => {
  fc.assert(
    fc.property(fleets, ({ demand, fleet }) => {
      const first = plan({ fleet, demand });
      const after = carriedOut(fleet, first);
      const known = new Set(after.workers.map(({ id }) => id));
      expect(known.size).toBe(after.workers.length);
      const second = operationsOf(plan({ fleet: after, demand }, first.memory));
      // Those that were forgotten have made room, also below the maximum; nothing else is left to do.
      const forgot = operationsOf(first).some(({ kind }) => kind === 'forget-worker' || kind === 'drain-worker');
      if (!forgot) expect(second).toEqual([]);
    }),
  );
});

test('an operation names a worker of its endpoint, and each worker comes at most once', () => {
  fc.assert(
    fc.property(fleets, (drawn) => {
      const made = plan(drawn);
      expect(made.failed.size).toBe(0);
      const named = operationsOf(made).map(workerIdOf);
      expect(new Set(named).size).toBe(named.length);
      for (const each of made.endpoints) {
        if (each.kind !== 'staff') continue;
        for (const operation of each.operations) {
          if (operation.kind === 'create-worker') expect(operation.worker.endpointId).toBe(each.endpoint.id);
          else expect(operation.workerId.startsWith(`${each.endpoint.id}-`)).toBe(true);
        }
      }
    }),
  );
});

test('no endpoint gets more workers than its maximum, and a deleted one none', () => {
  fc.assert(
    fc.property(fleets, (drawn) => {
      for (const each of plan(drawn).endpoints) {
        if (each.kind !== 'staff') continue;
        const created = each.operations.filter(({ kind }) => kind === 'create-worker').length;
        const { deletedAtMs, spec } = each.endpoint;
        expect(created).toBeLessThanOrEqual(deletedAtMs === null ? spec.workers.max : 0);
      }
    }),
  );
});

test('new workers go to hosts that are ready, and take together no more than a host has', () => {
  fc.assert(
    fc.property(fleets, (drawn) => {
      const taken = new Map<HostId, number>();
      for (const operation of operationsOf(plan(drawn))) {
        if (operation.kind !== 'create-worker') continue;
        const { hostId, resources } = operation.worker;
        expect(drawn.fleet.hosts.get(hostId)?.intent).toBe('ready');
        taken.set(hostId, (taken.get(hostId) ?? 0) + resources.vcpus);
      }
      for (const [hostId, vcpus] of taken) {
        expect(vcpus).toBeLessThanOrEqual(drawn.fleet.hosts.get(hostId)?.inventory?.vcpus ?? 0);
      }
    }),
  );
});

test('where the demand is unknown no worker leaves for want of jobs, but those above the maximum', () => {
  fc.assert(
    fc.property(fleets, ({ fleet }) => {
      for (const each of plan({ fleet, demand: new Map() }).endpoints) {
        if (each.kind !== 'staff') continue;
        const own = fleet.workers.filter(
          ({ endpointId, intent }) => endpointId === each.endpoint.id && intent === 'running',
        );
        const left = each.operations.filter(
          (operation) => operation.kind === 'drain-worker' && operation.reason === 'scale-down',
        );
        expect(left.length).toBeLessThanOrEqual(Math.max(0, own.length - each.endpoint.spec.workers.max));
      }
    }),
  );
});

test('an endpoint that cannot be planned for is named, and keeps no other from its plan', () => {
  fc.assert(
    fc.property(fleets, ({ demand, fleet }) => {
      const id = 'spoilt' as EndpointId;
      const spoilt = { ...fleet.endpoints[0], id, spec: null, deletedAtMs: null, createdAtMs: -1, lastDecision: null };
      const made = plan({ fleet: { ...fleet, endpoints: [spoilt as never, ...fleet.endpoints] }, demand });
      expect([...made.failed.keys()]).toEqual([id]);
      expect(operationsOf(made)).toEqual(operationsOf(plan({ fleet, demand })));
    }),
  );
});

test('no account gets more workers than its limit, those that it has included', () => {
  fc.assert(
    fc.property(fleets, (drawn) => {
      const owner = new Map(drawn.fleet.endpoints.map(({ accountId, id }) => [id, accountId]));
      const isOfC = ({ endpointId }: Pick<Worker, 'endpointId'>): boolean => owner.get(endpointId) === 'c';
      const created = operationsOf(plan(drawn)).flatMap((each) => (each.kind === 'create-worker' ? [each.worker] : []));
      const gone = new Set(
        operationsOf(plan(drawn)).flatMap((each) => (each.kind === 'forget-worker' ? [each.workerId] : [])),
      );
      const had = drawn.fleet.workers.filter((worker) => isOfC(worker) && !gone.has(worker.id)).length;
      expect(created.filter(isOfC).length).toBeLessThanOrEqual(Math.max(0, 2 - had));
    }),
  );
});

test('the order of endpoints and workers does not matter', () => {
  const shuffled = fleets.chain((drawn) =>
    fc.record({
      drawn: fc.constant(drawn),
      workers: fc.shuffledSubarray([...drawn.fleet.workers], { minLength: drawn.fleet.workers.length }),
      endpoints: fc.shuffledSubarray([...drawn.fleet.endpoints], { minLength: drawn.fleet.endpoints.length }),
      hosts: fc.shuffledSubarray([...drawn.fleet.hosts], { minLength: drawn.fleet.hosts.size }),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ drawn, endpoints, hosts: machines, workers }) => {
      const again = { ...drawn, fleet: { ...drawn.fleet, endpoints, workers, hosts: new Map(machines) } };
      const places = (made: FleetPlan) =>
        operationsOf(made).flatMap((each) =>
          each.kind === 'create-worker' ? [`${each.worker.endpointId} on ${each.worker.hostId}`] : [],
        );
      expect(places(plan(again)).toSorted()).toEqual(places(plan(drawn)).toSorted());
    }),
  );
});
