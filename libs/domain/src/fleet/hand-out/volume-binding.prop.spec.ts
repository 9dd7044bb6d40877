import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SHIPPED_CATALOG } from '../../hardware-catalog/index.js';
import type { Host } from '../../host/index.js';
import type { EndpointId, HostId, WorkerId } from '../../ids.js';
import type { PlaceableVolume } from '../../placement/index.js';
import { NO_DEMAND } from '../../scaling/index.js';
import type { FleetEndpoint } from '../fleet.js';
import { newFleetMemory } from '../fleet-memory.js';
import { planFleet } from '../plan-fleet.js';

const NOW_MS = 1_000_000;
const CENTERS = ['A', 'B'] as const;
const center = fc.constantFrom(...CENTERS);
const storage = fc.constantFrom('s1', 's2', null);

const hosts = fc.array(fc.record({ center, storage, vcpus: fc.integer({ min: 0, max: 12 }) }), { maxLength: 5 });
const volumes = fc.array(fc.record({ center, storage }), { minLength: 1, maxLength: 3 });
const endpoints = fc.array(
  fc.record({ has: fc.subarray([0, 1, 2]), jobs: fc.integer({ min: 0, max: 5 }), account: fc.constantFrom('a', 'b') }),
  { maxLength: 5 },
);

interface Drawn {
  readonly center: string;
  readonly storage: string | null;
}

const hostOf = ({ center: dataCenterId, storage: storageId, vcpus }: Drawn & { vcpus: number }, at: number): Host => ({
  ...{ id: `h${at}` as HostId, name: '', dataCenterId, labels: {}, intent: 'ready', lastSeenAtMs: NOW_MS },
  inventory: {
    ...{ vcpus, isOvercommitted: true, memoryBytes: 1, diskBytes: 1, gpus: [], areGpusSimulated: false },
    ...{ cudaVersion: null, runtime: 'docker', images: [], volumes: storageId === null ? null : { storageId } },
  },
});

function endpointOf(has: readonly PlaceableVolume[], account: string, at: number): FleetEndpoint {
  return {
    ...{ id: `e${at}` as EndpointId, accountId: account as never, release: 1, version: 1, createdAtMs: at },
    spec: {
      ...{ name: 'echo', type: 'QUEUE', scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, gpu: null },
      container: { image: 'echo', args: '', diskGb: null, env: {}, ports: [], registryId: null },
      ...{ workers: { min: 0, max: 5, idleTimeoutSeconds: null }, cpu: [{ flavorId: 'cpu3c', vcpuCount: 2 }] },
      ...{
        dataCenterIds: [],
        networkVolumeIds: has.map(({ id }) => id),
        flashboot: 'OFF',
        executionTimeoutMs: 300_000,
      },
    },
    ...{ deletedAtMs: null, lastDecision: null, volumes: has },
    volumeDataCenterIds: [...new Set(has.map(({ dataCenterId }) => dataCenterId))],
  };
}

test('a volume lies on one storage, whoever comes to it in one plan, and each worker has that of its own center', () => {
  fc.assert(
    fc.property(hosts, volumes, endpoints, (machines, drawn, wishes) => {
      const all = drawn.map((each, at) => ({ id: `v${at}`, dataCenterId: each.center, storageId: each.storage }));
      const fleet = {
        hosts: new Map(machines.map(hostOf).map((host) => [host.id, host])),
        endpoints: wishes.map(({ account, has }, at) =>
          endpointOf(
            has.flatMap((index) => all[index] ?? []),
            account,
            at,
          ),
        ),
        ...{ workers: [], accountLimits: new Map() },
      };
      let made = 0;
      const plan = planFleet(
        {
          fleet,
          catalog: SHIPPED_CATALOG,
          demandOf: ({ createdAtMs }) => ({ ...NO_DEMAND, queuedNormal: wishes[createdAtMs]?.jobs ?? 0 }),
          memory: { ...newFleetMemory(0), lastLookMs: NOW_MS },
        },
        { nowMs: NOW_MS, newWorkerId: () => `w${(made += 1)}` as WorkerId },
      );
      expect(plan.failed.size).toBe(0);
      const lies = new Map<string, string>(
        all.flatMap(({ id, storageId }) => (storageId === null ? [] : [[id, storageId]])),
      );
      for (const { endpoint, ...own } of plan.endpoints) {
        for (const operation of 'operations' in own ? own.operations : []) {
          if (operation.kind !== 'create-worker') continue;
          const { hostId, volumeId } = operation.worker;
          const host = fleet.hosts.get(hostId);
          expect(endpoint.spec.networkVolumeIds.length > 0).toBe(volumeId !== undefined);
          if (volumeId === undefined) continue;
          expect(all.find(({ id }) => id === volumeId)?.dataCenterId).toBe(host?.dataCenterId);
          expect(operation.storageId).toBe(host?.inventory?.volumes?.storageId);
          expect(lies.get(volumeId) ?? operation.storageId).toBe(operation.storageId);
          lies.set(volumeId, operation.storageId ?? '');
        }
      }
    }),
    { numRuns: 300 },
  );
});
