import { describe, expect, test } from '@jest/globals';
import { SHIPPED_CATALOG } from '../../hardware-catalog/index.js';
import { ACCOUNT_LIMITS_DEFAULT, type LimitOverrides } from '../../account-limits/index.js';
import type { EndpointSpec } from '../../endpoint/index.js';
import type { Host } from '../../host/index.js';
import type { AccountId, EndpointId, HostId, WorkerId } from '../../ids.js';
import { GB_BYTES } from '../../placement/index.js';
import { NO_DEMAND } from '../../scaling/index.js';
import type { Worker } from '../../worker/index.js';
import type { Fleet, FleetEndpoint } from '../fleet.js';
import { newFleetMemory } from '../fleet-memory.js';
import { planFleet } from '../plan-fleet.js';

const NOW_MS = 10_000_000;
const RTX_4090 = 'NVIDIA GeForce RTX 4090';

const hostOf = (id: string, vcpus: number, gpus = 0): Host => ({
  ...{ id: id as HostId, name: id, dataCenterId: 'A', labels: {}, intent: 'ready', lastSeenAtMs: NOW_MS },
  inventory: {
    ...{ vcpus, isOvercommitted: false, memoryBytes: 1_000 * GB_BYTES, diskBytes: 10_000 * GB_BYTES },
    gpus: Array.from({ length: gpus }, (_, index) => ({ index, typeId: RTX_4090, memoryBytes: 24 * GB_BYTES })),
    ...{ areGpusSimulated: false, cudaVersion: '12.4', runtime: 'docker', images: [] },
  },
});

const GPU = { pools: ['ADA_24'], excludedTypes: [], count: 1, allowedCudaVersions: [], minCudaVersion: null };

interface Wish {
  readonly account: string;
  readonly id: string;
  readonly jobs: number;
  readonly spec?: Partial<EndpointSpec>;
  readonly waitingSince?: string;
}

const endpointOf = ({ account, id, spec, waitingSince }: Wish, createdAtMs: number): FleetEndpoint => ({
  ...{ id: id as EndpointId, accountId: account as AccountId, release: 1, version: 1, createdAtMs, deletedAtMs: null },
  spec: {
    ...{ name: id, type: 'QUEUE', scaling: { type: 'REQUEST_COUNT', requestCount: 1 } },
    container: { image: 'echo', args: '', diskGb: null, env: {}, ports: [], registryId: null },
    ...{ workers: { min: 0, max: 1_000, idleTimeoutSeconds: null }, gpu: null },
    ...{ cpu: [{ flavorId: 'cpu3c', vcpuCount: 2 }], dataCenterIds: [], networkVolumeIds: [] },
    ...{ flashboot: 'OFF', executionTimeoutMs: 300_000, ...spec },
  },
  lastDecision:
    waitingSince === undefined
      ? null
      : {
          ...{
            endpointId: id as EndpointId,
            desired: 1,
            reason: 'demand',
            detail: '',
            unplaced: 0,
            starts: null,
            decidedAtMs: 0,
          },
          waiting: [{ reason: 'vcpu', detail: '', since: waitingSince, hosts: [] }],
        },
  volumeDataCenterIds: [],
});

const workerOf = (endpointId: string, id: string, hostId: string): Worker => ({
  ...{ id: id as WorkerId, endpointId: endpointId as EndpointId, hostId: hostId as HostId, release: 1 },
  ...{ intent: 'running', createdAtMs: 0, observed: null },
  resources: { vcpus: 2, memoryBytes: GB_BYTES, diskBytes: GB_BYTES, gpuTypeId: null, gpuCount: 0 },
});

interface Scene {
  readonly hosts: readonly Host[];
  readonly wishes: readonly Wish[];
  readonly workers?: readonly Worker[];
  readonly limits?: Readonly<Record<string, LimitOverrides>>;
}

/** By endpoint: workers that are made, and why there are no more. */
function outcomeOf({ hosts, limits = {}, wishes, workers = [] }: Scene) {
  const endpoints = wishes.map(endpointOf);
  const accountLimits = new Map(
    Object.entries(limits).map(([id, more]) => [id as AccountId, { ...ACCOUNT_LIMITS_DEFAULT, ...more }]),
  );
  const fleet: Fleet = { endpoints, hosts: new Map(hosts.map((host) => [host.id, host])), workers, accountLimits };
  const jobs = new Map(wishes.map((wish) => [wish.id, wish.jobs]));
  let made = 0;
  const plan = planFleet(
    {
      catalog: SHIPPED_CATALOG,
      fleet,
      demandOf: ({ id }) => ({ ...NO_DEMAND, queuedNormal: jobs.get(id) ?? 0 }),
      memory: { ...newFleetMemory(0), lastLookMs: NOW_MS },
    },
    { nowMs: NOW_MS, newWorkerId: () => `new-${(made += 1)}` as WorkerId },
  );
  expect(plan.failed.size).toBe(0);
  return Object.fromEntries(
    plan.endpoints.map((each) => {
      if (each.kind === 'forget') return [each.endpoint.id, null];
      const created = each.operations.filter(({ kind }) => kind === 'create-worker').length;
      const { count = 0, why } = each.unplaced ?? {};
      return [each.endpoint.id, why === undefined ? { created } : { created, left: count, reason: why.reason }];
    }),
  );
}

describe('places go by fair share', () => {
  test('an account that wants a thousand workers does not delay the first worker of another', () => {
    const wishes = [
      { account: 'greedy', id: 'many', jobs: 1_000, waitingSince: '1970-01-01T00:00:00.000Z' },
      { account: 'modest', id: 'one', jobs: 1 },
    ];
    expect(outcomeOf({ hosts: [hostOf('h', 8)], wishes })).toEqual({
      many: { created: 3, left: 997, reason: 'vcpu' },
      one: { created: 1 },
    });
  });

  test('what an account has already counts, and so does what leaves', () => {
    const wishes = [
      { account: 'rich', id: 'has', jobs: 9 },
      { account: 'poor', id: 'none', jobs: 9 },
    ];
    const workers = [workerOf('has', 'a', 'h'), { ...workerOf('has', 'b', 'h'), intent: 'drained' as const }];
    expect(outcomeOf({ hosts: [hostOf('h', 8)], wishes, workers })).toMatchObject({
      has: { created: 0 },
      none: { created: 2 },
    });
  });

  test('the larger of its shares counts: whoever has the GPUs waits for the vCPU', () => {
    const wishes = [
      { account: 'gpus', id: 'gpu', jobs: 1, spec: { gpu: GPU, cpu: null } },
      { account: 'gpus', id: 'cpu-too', jobs: 4 },
      { account: 'cpus', id: 'cpu', jobs: 4 },
    ];
    const holder = workerOf('gpu', 'w', 'g');
    const resources = { ...holder.resources, vcpus: 4, gpuTypeId: RTX_4090, gpuCount: 1 };
    const hosts = [hostOf('g', 4, 1), hostOf('c', 8)];
    expect(outcomeOf({ hosts, wishes, workers: [{ ...holder, resources }] })).toMatchObject({
      'cpu-too': { created: 0, reason: 'vcpu' },
      cpu: { created: 4 },
    });
  });

  test('within an account the endpoint without a worker comes first, then the one that has waited longest', () => {
    const wishes = [
      { account: 'a', id: 'has', jobs: 9, waitingSince: '1970-01-01T00:00:00.000Z' },
      { account: 'a', id: 'late', jobs: 9 },
      { account: 'a', id: 'early', jobs: 9, waitingSince: '1970-01-01T00:01:00.000Z' },
    ];
    const workers = [workerOf('has', 'w', 'h')];
    expect(outcomeOf({ hosts: [hostOf('h', 4)], wishes, workers })).toMatchObject({ early: { created: 1 } });
    expect(outcomeOf({ hosts: [hostOf('h', 8)], wishes, workers })).toMatchObject({
      ...{ has: { created: 1 }, late: { created: 1 }, early: { created: 1 } },
    });
  });

  test('what has no place stops no other', () => {
    const wishes = [
      { account: 'a', id: 'huge', jobs: 1, spec: { cpu: [{ flavorId: 'cpu3c', vcpuCount: 32 }] } },
      { account: 'a', id: 'small', jobs: 1 },
    ];
    expect(outcomeOf({ hosts: [hostOf('h', 4)], wishes })).toEqual({
      huge: { created: 0, left: 1, reason: 'vcpu' },
      small: { created: 1 },
    });
  });
});

describe('limits of the account', () => {
  test('workers: the room that is left is for others', () => {
    const wishes = [
      { account: 'a', id: 'many', jobs: 9 },
      { account: 'b', id: 'other', jobs: 2 },
    ];
    const workers = [{ ...workerOf('many', 'w', 'h'), intent: 'drained' as const }];
    const limits = { a: { workers: 2 } };
    expect(outcomeOf({ hosts: [hostOf('h', 32)], wishes, workers, limits })).toEqual({
      many: { created: 1, left: 8, reason: 'account-quota' },
      other: { created: 2 },
    });
  });

  test('gpus: workers without one are placed all the same', () => {
    const wishes = [
      { account: 'a', id: 'pairs', jobs: 3, spec: { gpu: { ...GPU, count: 2 }, cpu: null } },
      { account: 'a', id: 'cpu', jobs: 2 },
    ];
    expect(outcomeOf({ hosts: [hostOf('h', 64, 8)], wishes, limits: { a: { gpus: 3 } } })).toEqual({
      pairs: { created: 1, left: 2, reason: 'account-quota' },
      cpu: { created: 2 },
    });
  });
});
