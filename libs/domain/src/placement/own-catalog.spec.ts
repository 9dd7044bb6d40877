import { describe, expect, test } from '@jest/globals';
import { HardwareCatalog, SHIPPED_TABLES } from '../hardware-catalog/index.js';
import type { Host } from '../host/index.js';
import type { HostId } from '../ids.js';
import { placeWorker } from './place-worker.js';
import type { PlacementRequest } from './placement-request.js';
import { GB_BYTES } from './worker-resources.js';

const NOW = 1_000_000;
const T4 = { id: 'T4', name: 'T4', memoryGb: 16, pool: 'TURING_16', reportedAs: ['Tesla T4', 'NVIDIA T4'] };
const OWN = new HardwareCatalog({ ...SHIPPED_TABLES, gpuCards: [T4], cpuFlavors: [] });

const hostWith = (...cards: readonly string[]): Host => ({
  ...{ id: 'h' as HostId, name: 'h', dataCenterId: 'LOCAL-1', labels: {}, intent: 'ready', lastSeenAtMs: NOW },
  inventory: {
    ...{ vcpus: 32, isOvercommitted: false, memoryBytes: 128 * GB_BYTES, diskBytes: 500 * GB_BYTES },
    gpus: cards.map((typeId, index) => ({ index, typeId, memoryBytes: 16 * GB_BYTES })),
    ...{ areGpusSimulated: false, cudaVersion: '12.4', runtime: 'docker', images: [] },
  },
});

const request = (pool: string, count = 1): PlacementRequest => ({
  catalog: OWN,
  gpu: { pools: [pool], excludedTypes: [], count, allowedCudaVersions: [], minCudaVersion: null },
  ...{ cpu: null, dataCenterIds: [], volumeDataCenterIds: [], image: 'example/worker:1', diskGb: null },
});

describe("placement by an operator's catalog", () => {
  test.each(['T4', 'Tesla T4', 'NVIDIA T4'])('takes a card by the name %s, and keeps it', (reported) => {
    const place = placeWorker(request('TURING_16'), [{ host: hostWith(reported), taken: [] }], NOW);
    expect(place).toMatchObject({ kind: 'placed', gpuTypeId: reported, resources: { gpuTypeId: reported } });
  });

  test('gives the GPUs of one worker one name', () => {
    const mixed = [{ host: hostWith('Tesla T4', 'NVIDIA T4'), taken: [] }];
    expect(placeWorker(request('TURING_16', 2), mixed, NOW)).toMatchObject({ reason: 'gpu-count' });
    const alike = [{ host: hostWith('Tesla T4', 'NVIDIA T4', 'NVIDIA T4'), taken: [] }];
    expect(placeWorker(request('TURING_16', 2), alike, NOW)).toMatchObject({ gpuTypeId: 'NVIDIA T4' });
  });

  test('lets what was taken out wait, with a reason', () => {
    const hosts = [{ host: hostWith('NVIDIA L4'), taken: [] }];
    expect(placeWorker(request('AMPERE_24'), hosts, NOW)).toMatchObject({ reason: 'no-eligible-type' });
    const cpu = { ...request('TURING_16'), gpu: null, cpu: [{ flavorId: 'cpu3c', vcpuCount: 2 }] };
    expect(placeWorker(cpu, hosts, NOW)).toMatchObject({ reason: 'no-eligible-type' });
  });
});
