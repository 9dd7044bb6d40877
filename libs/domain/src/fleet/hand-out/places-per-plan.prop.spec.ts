import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EndpointSpec } from '../../endpoint/index.js';
import { SHIPPED_CATALOG } from '../../hardware-catalog/index.js';
import type { Host } from '../../host/index.js';
import type { AccountId, EndpointId, HostId, WorkerId } from '../../ids.js';
import { GB_BYTES } from '../../placement/index.js';
import { NO_DEMAND } from '../../scaling/index.js';
import type { Worker } from '../../worker/index.js';
import { withOperation, type FleetOperation } from '../fleet-operation.js';
import type { FleetEndpoint } from '../fleet.js';
import { newFleetMemory } from '../fleet-memory.js';
import { planFleet, type FleetPlan } from '../plan-fleet.js';
import { PLACES_MAX } from './hand-out.js';

const NOW_MS = 10_000_000;

const hostOf = (vcpus: number, index: number): Host => ({
  ...{ id: `h${index}` as HostId, name: '', dataCenterId: 'A', labels: {}, intent: 'ready', lastSeenAtMs: Infinity },
  inventory: {
    ...{ vcpus, isOvercommitted: true, memoryBytes: GB_BYTES, diskBytes: GB_BYTES, gpus: [] },
    ...{ areGpusSimulated: false, cudaVersion: null, runtime: 'process', images: [] },
  },
});

const SPEC: EndpointSpec = {
  ...{ name: 'echo', type: 'QUEUE', scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, gpu: null },
  container: { image: 'echo', args: '', diskGb: null, env: {}, ports: [], registryId: null },
  ...{ workers: { min: 0, max: 1_000, idleTimeoutSeconds: null }, cpu: [{ flavorId: 'cpu3c', vcpuCount: 2 }] },
  ...{ dataCenterIds: [], networkVolumeIds: [], flashboot: 'OFF', executionTimeoutMs: 300_000 },
};

interface Wanted {
  readonly account: string;
  readonly jobs: number;
}

/** Plans that follow each other at once, each carried out; who wants what may change between them. */
class Passes {
  readonly #hosts: readonly Host[];
  #workers: readonly Worker[] = [];
  #memory = newFleetMemory(0);
  #made = 0;

  constructor(vcpus: readonly number[]) {
    this.#hosts = vcpus.map(hostOf);
  }

  workersOf(account: string): number {
    return this.#workers.filter(({ endpointId }) => endpointId.startsWith(`${account}-`)).length;
  }

  pass(wanted: readonly Wanted[]): FleetPlan & { readonly created: number } {
    const endpoints = wanted.map(({ account }, index): FleetEndpoint => ({
      ...{
        id: `${account}-${index}` as EndpointId,
        accountId: account as AccountId,
        spec: SPEC,
        release: 1,
        version: 1,
      },
      ...{ createdAtMs: index, deletedAtMs: null, lastDecision: null, volumeDataCenterIds: [] },
    }));
    const fleet = {
      ...{ endpoints, hosts: new Map(this.#hosts.map((host) => [host.id, host])), workers: this.#workers },
      accountLimits: new Map(),
    };
    const demandOf = ({ createdAtMs }: FleetEndpoint) => ({
      ...{ ...NO_DEMAND, queuedNormal: wanted[createdAtMs]?.jobs ?? 0 },
    });
    const newWorkerId = (): WorkerId => `w${(this.#made += 1)}` as WorkerId;
    const plan = planFleet(
      { fleet, catalog: SHIPPED_CATALOG, demandOf, memory: this.#memory },
      { nowMs: NOW_MS, newWorkerId },
    );
    this.#memory = plan.memory;
    const operations = plan.endpoints.flatMap((each): readonly FleetOperation[] =>
      each.kind === 'staff' ? each.operations : [],
    );
    this.#workers = operations.reduce(withOperation, this.#workers);
    return { ...plan, created: operations.filter(({ kind }) => kind === 'create-worker').length };
  }
}

const hosts = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 6 });
const many = fc.array(
  fc.record({ account: fc.constantFrom('a', 'b', 'c'), jobs: fc.integer({ min: 0, max: 1_000 }) }),
  { minLength: 1, maxLength: 4 },
);

test('a plan hands out a bounded number of places, and with those that follow it as many as one without a bound', () => {
  fc.assert(
    fc.property(hosts, many, (vcpus, wanted) => {
      const passes = new Passes(vcpus);
      const most = wanted.reduce((sum, { jobs }) => sum + jobs, 0);
      const room = vcpus.reduce((sum, each) => sum + Math.floor(each / 2), 0);
      let last = passes.pass(wanted);
      let created = last.created;
      for (let pass = 0; last.postponed > 0; pass += 1) {
        expect(last.created).toBe(PLACES_MAX);
        expect(pass).toBeLessThan(most / PLACES_MAX);
        last = passes.pass(wanted);
        created += last.created;
      }
      expect(last.created).toBeLessThanOrEqual(PLACES_MAX);
      expect(created).toBe(Math.min(most, room));
    }),
    { numRuns: 40 },
  );
});

test('who has no place is told so in the same plan, whoever is postponed', () => {
  const passes = new Passes([2 * (PLACES_MAX + 10)]);
  const plan = passes.pass([
    { account: 'a', jobs: 1_000 },
    { account: 'b', jobs: 1_000 },
  ]);
  expect(plan.created).toBe(PLACES_MAX);
  expect(plan.postponed).toBe(2_000 - PLACES_MAX);
  const next = passes.pass([
    { account: 'a', jobs: 1_000 },
    { account: 'b', jobs: 1_000 },
  ]);
  expect(next).toMatchObject({ created: 10, postponed: 0 });
  expect(next.endpoints).toMatchObject([{ unplaced: { count: 895 } }, { unplaced: { count: 895 } }]);
});

const greed = fc.record({
  jobs: fc.integer({ min: 200, max: 1_000 }),
  after: fc.integer({ min: 1, max: 6 }),
  isFirst: fc.boolean(),
});

test('one account that wants a thousand workers delays the first worker of another by no plan while there is room', () => {
  fc.assert(
    fc.property(hosts, greed, (vcpus, { after, isFirst, jobs }) => {
      const passes = new Passes([...vcpus, 2]);
      const greedy = { account: 'greedy', jobs };
      for (let pass = 0; pass < after; pass += 1) passes.pass([greedy]);
      const room = vcpus.reduce((sum, each) => sum + Math.floor(each / 2), 1);
      const isRoom = passes.workersOf('greedy') < room;
      const modest = { account: 'modest', jobs: 1 };
      passes.pass(isFirst ? [modest, greedy] : [greedy, modest]);
      expect(passes.workersOf('modest')).toBe(Number(isRoom));
    }),
    { numRuns: 60 },
  );
});
