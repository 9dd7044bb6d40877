import { expect, test } from '@jest/globals';
import { SHIPPED_CATALOG } from '../../hardware-catalog/index.js';
import type { Host } from '../../host/index.js';
import type { EndpointId, HostId, WorkerId } from '../../ids.js';
import type { PlaceableVolume } from '../../placement/index.js';
import { NO_DEMAND } from '../../scaling/index.js';
import type { FleetEndpoint } from '../fleet.js';
import { newFleetMemory } from '../fleet-memory.js';
import type { EndpointPlan } from '../endpoint-plan.js';
import { planFleet } from '../plan-fleet.js';

const NOW_MS = 1_000_000;

const host = (id: string, storageId: string | null): Host => ({
  ...{ id: id as HostId, name: id, dataCenterId: 'LOCAL-1', labels: {}, intent: 'ready', lastSeenAtMs: NOW_MS },
  inventory: {
    ...{ vcpus: 4, isOvercommitted: false, memoryBytes: 2 ** 35, diskBytes: 2 ** 40, gpus: [] },
    ...{ areGpusSimulated: false, cudaVersion: null, runtime: 'docker', images: [] },
    ...(storageId === null ? {} : { volumes: { storageId } }),
  },
});

const endpoint = (id: string, volumes: readonly PlaceableVolume[]): FleetEndpoint => ({
  ...{ id: id as EndpointId, accountId: 'a' as never, release: 1, version: 1, createdAtMs: 1, deletedAtMs: null },
  spec: {
    ...{ name: 'echo', type: 'QUEUE', scaling: { type: 'REQUEST_COUNT', requestCount: 1 } },
    container: { image: 'echo', args: '', diskGb: null, env: {}, ports: [], registryId: null },
    ...{ workers: { min: 1, max: 1, idleTimeoutSeconds: null }, gpu: null },
    cpu: [{ flavorId: 'cpu3c', vcpuCount: 4 }],
    ...{ dataCenterIds: [], networkVolumeIds: volumes.map((volume) => volume.id) },
    ...{ flashboot: 'OFF', executionTimeoutMs: 300_000 },
  },
  ...{ lastDecision: null, volumeDataCenterIds: ['LOCAL-1'], volumes },
});

function plan(
  endpoints: readonly FleetEndpoint[],
  hosts: readonly Host[],
): readonly (EndpointPlan & { kind: 'staff' })[] {
  let made = 0;
  const { endpoints: plans } = planFleet(
    {
      catalog: SHIPPED_CATALOG,
      fleet: { endpoints, hosts: new Map(hosts.map((each) => [each.id, each])), workers: [], accountLimits: new Map() },
      demandOf: () => NO_DEMAND,
      memory: { ...newFleetMemory(NOW_MS - 60_000), lastLookMs: NOW_MS },
    },
    { nowMs: NOW_MS, newWorkerId: () => `w${(made += 1)}` as WorkerId },
  );
  return plans.flatMap((each) => (each.kind === 'staff' ? [each] : []));
}

const SHARED: PlaceableVolume = { id: 'v1', dataCenterId: 'LOCAL-1', storageId: null };

test('two endpoints of one new volume have it on one storage, though both are placed in one plan', () => {
  const both = [endpoint('e1', [SHARED]), endpoint('e2', [SHARED])];
  const [first, second] = plan(both, [host('h1', 's1'), host('h2', 's2')]);
  expect(first?.operations).toMatchObject([
    { kind: 'create-worker', worker: { hostId: 'h1', volumeId: 'v1' }, storageId: 's1' },
  ]);
  expect(second?.operations).toEqual([]);
  expect(second?.unplaced?.why).toMatchObject({
    hosts: [
      { id: 'h1', reason: 'vcpu' },
      { id: 'h2', reason: 'network-volume', detail: 'network volume v1 lies on storage s1, the host has s2' },
    ],
  });
});

test('hosts that name one storage both have the volume', () => {
  const both = [endpoint('e1', [SHARED]), endpoint('e2', [SHARED])];
  const plans = plan(both, [host('h1', 'nfs'), host('h2', 'nfs')]);
  expect(plans.map(({ operations: [operation] }) => operation)).toMatchObject([
    { worker: { hostId: 'h1', volumeId: 'v1' }, storageId: 'nfs' },
    { worker: { hostId: 'h2', volumeId: 'v1' }, storageId: 'nfs' },
  ]);
});

test('a worker without a volume goes anywhere and binds nothing', () => {
  const [made] = plan([endpoint('e1', [])], [host('h1', 's1')]);
  expect(made?.operations).toHaveLength(1);
  expect(made?.operations[0]).not.toHaveProperty('storageId');
  expect(made?.operations[0]).not.toHaveProperty('worker.volumeId');
});
