import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SHIPPED_CATALOG } from '../../hardware-catalog/index.js';
import type { EndpointSpec } from '../../endpoint/index.js';
import type { Host } from '../../host/index.js';
import type { AccountId, EndpointId, HostId, WorkerId } from '../../ids.js';
import { GB_BYTES } from '../../placement/index.js';
import { NO_DEMAND } from '../../scaling/index.js';
import type { Worker } from '../../worker/index.js';
import type { FleetEndpoint } from '../fleet.js';
import { newFleetMemory } from '../fleet-memory.js';
import { planFleet } from '../plan-fleet.js';

const NOW_MS = 10_000_000;
const TYPE = 'NVIDIA GeForce RTX 4090';

const hostOf = (gpus: number, index: number): Host => ({
  ...{ id: `h${index}` as HostId, name: '', dataCenterId: 'A', labels: {}, intent: 'ready', lastSeenAtMs: NOW_MS },
  inventory: {
    ...{ vcpus: 64, isOvercommitted: false, memoryBytes: 1_000 * GB_BYTES, diskBytes: 10_000 * GB_BYTES },
    gpus: Array.from({ length: gpus }, (_, at) => ({ index: at, typeId: TYPE, memoryBytes: GB_BYTES })),
    ...{ areGpusSimulated: false, cudaVersion: '12.4', runtime: 'docker', images: [] },
  },
});

const SPEC: EndpointSpec = {
  ...{ name: 'echo', type: 'QUEUE', scaling: { type: 'REQUEST_COUNT', requestCount: 1 } },
  container: { image: 'echo', args: '', diskGb: null, env: {}, ports: [], registryId: null },
  gpu: { pools: ['ADA_24'], excludedTypes: [], count: 1, allowedCudaVersions: [], minCudaVersion: null },
  ...{ workers: { min: 0, max: 1_000, idleTimeoutSeconds: null }, cpu: null, dataCenterIds: [] },
  ...{ networkVolumeIds: [], flashboot: 'OFF', executionTimeoutMs: 300_000 },
};

interface Wish {
  readonly account: number;
  readonly jobs: number;
  readonly has: number;
}

const scenes = fc.record({
  hosts: fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 5 }),
  wishes: fc.array(fc.record({ account: fc.nat(3), jobs: fc.integer({ min: 1, max: 40 }), has: fc.nat(3) }), {
    minLength: 1,
    maxLength: 8,
  }),
});

/** All ask for the same kind of worker; what they have takes a GPU each of the hosts in turn. */
function handedOut(hosts: readonly number[], wishes: readonly Wish[]) {
  const machines = hosts.map(hostOf);
  const free = machines.flatMap(({ id, inventory }) => (inventory?.gpus ?? []).map(() => id));
  const endpoints = wishes.map(({ account }, index): FleetEndpoint => ({
    ...{ id: `e${index}` as EndpointId, accountId: `a${account}` as AccountId, spec: SPEC, release: 1, version: 1 },
    ...{ createdAtMs: index, deletedAtMs: null, lastDecision: null, volumeDataCenterIds: [] },
  }));
  const workers = wishes.flatMap(({ has }, index) =>
    free.splice(0, has).map((hostId, at): Worker => ({
      ...{ id: `e${index}w${at}` as WorkerId, endpointId: `e${index}` as EndpointId, hostId, release: 1 },
      ...{ intent: 'running', createdAtMs: 0, observed: null },
      resources: { vcpus: 4, memoryBytes: 16 * GB_BYTES, diskBytes: GB_BYTES, gpuTypeId: TYPE, gpuCount: 1 },
    })),
  );
  let made = 0;
  const plan = planFleet(
    {
      catalog: SHIPPED_CATALOG,
      fleet: { endpoints, hosts: new Map(machines.map((host) => [host.id, host])), workers, accountLimits: new Map() },
      demandOf: ({ id }) => ({ ...NO_DEMAND, queuedNormal: wishes[Number(id.slice(1))]?.jobs ?? 0 }),
      memory: { ...newFleetMemory(0), lastLookMs: NOW_MS },
    },
    { nowMs: NOW_MS, newWorkerId: () => `n${(made += 1)}` as WorkerId },
  );
  const staffed = plan.endpoints.flatMap((each) => (each.kind === 'staff' ? [each] : []));
  const created = staffed.flatMap(({ operations }) =>
    operations.flatMap((each) => (each.kind === 'create-worker' ? [each.worker] : [])),
  );
  const accounts = [...Map.groupBy(staffed, ({ endpoint }) => endpoint.accountId).values()].map((theirs) => {
    const isTheirs = ({ endpointId }: Worker): boolean => theirs.some(({ endpoint }) => endpoint.id === endpointId);
    return {
      had: workers.filter(isTheirs).length,
      got: created.filter(isTheirs).length,
      left: theirs.reduce((sum, { unplaced }) => sum + (unplaced?.count ?? 0), 0),
    };
  });
  return { accounts, workers: [...workers, ...created] };
}

test('where all want more than there is, and the same, nobody is given more than one worker above another', () => {
  fc.assert(
    fc.property(scenes, ({ hosts, wishes }) => {
      const { accounts } = handedOut(hosts, wishes);
      for (const short of accounts.filter(({ left }) => left > 0)) {
        for (const other of accounts.filter(({ got }) => got > 0)) {
          expect(other.had + other.got).toBeLessThanOrEqual(short.had + short.got + 1);
        }
      }
    }),
  );
});

test('no place stays free while somebody waits for it', () => {
  fc.assert(
    fc.property(scenes, ({ hosts, wishes }) => {
      const { accounts } = handedOut(hosts, wishes);
      const taken = accounts.reduce((sum, { got, had }) => sum + got + had, 0);
      const isShort = accounts.some(({ left }) => left > 0);
      if (isShort) expect(taken).toBe(hosts.reduce((sum, gpus) => sum + gpus, 0));
    }),
  );
});

test('no GPU is given twice', () => {
  fc.assert(
    fc.property(scenes, ({ hosts, wishes }) => {
      const { workers } = handedOut(hosts, wishes);
      hosts.forEach((gpus, index) => {
        expect(workers.filter(({ hostId }) => hostId === `h${index}`).length).toBeLessThanOrEqual(gpus);
      });
    }),
  );
});
