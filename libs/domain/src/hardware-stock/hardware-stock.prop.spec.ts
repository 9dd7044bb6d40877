import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { HostId } from '../ids.js';
import { GB_BYTES, placeWorker, type HostLoad, type PlacementRequest } from '../placement/index.js';
import { findCpuFlavor } from './cpu-stock.js';
import { findGpuType } from './gpu-stock.js';
import { installationOf } from './installation.js';

const NOW = 1_000_000;
const L4 = 'NVIDIA L4';
const CUDA = ['11.8', '12.2', '12.11'];
const OTHERS = SHIPPED_CATALOG.gpuTypes.map(({ id }) => id).filter((id) => id !== L4);

const gigabytes = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max }).map((gb) => gb * GB_BYTES);

const loads: fc.Arbitrary<readonly HostLoad[]> = fc.array(
  fc.record({
    host: fc.record({
      id: fc.stringMatching(/^h[a-z0-9]{1,3}$/).map((id) => id as HostId),
      name: fc.constant('host'),
      dataCenterId: fc.constantFrom('A', 'B'),
      labels: fc.constant({}),
      intent: fc.constantFrom('ready' as const, 'ready' as const, 'cordoned' as const, 'draining' as const),
      lastSeenAtMs: fc.option(fc.integer({ min: NOW - 20_000, max: NOW }), { freq: 9 }),
      inventory: fc.option(
        fc.record({
          vcpus: fc.integer({ min: 1, max: 64 }),
          isOvercommitted: fc.boolean(),
          memoryBytes: gigabytes(256),
          diskBytes: gigabytes(200),
          gpus: fc
            .array(fc.constantFrom(L4, 'some other card'), { maxLength: 6 })
            .map((types) => types.map((typeId, index) => ({ index, typeId, memoryBytes: GB_BYTES }))),
          areGpusSimulated: fc.boolean(),
          cudaVersion: fc.option(fc.constantFrom(...CUDA)),
          runtime: fc.constant('docker' as const),
          images: fc.constant([]),
        }),
        { freq: 9 },
      ),
    }),
    taken: fc.array(
      fc.record({
        vcpus: fc.integer({ min: 0, max: 16 }),
        memoryBytes: gigabytes(64),
        diskBytes: gigabytes(50),
        gpuTypeId: fc.constantFrom(L4, null),
        gpuCount: fc.integer({ min: 0, max: 3 }),
      }),
      { maxLength: 3 },
    ),
  }),
  { maxLength: 4 },
);

const anywhere = { catalog: SHIPPED_CATALOG, dataCenterIds: [], volumeDataCenterIds: [], image: 'one', diskGb: null };

const canPlace = (request: Pick<PlacementRequest, 'gpu' | 'cpu'>, hosts: readonly HostLoad[]): boolean =>
  placeWorker({ ...anywhere, ...request }, hosts, NOW).kind === 'placed';

test('a GPU type is available exactly when a worker with it can be placed', () => {
  const versions = fc.option(fc.constantFrom(...CUDA));
  fc.assert(
    fc.property(loads, fc.integer({ min: 1, max: 3 }), versions, (hosts, count, minCudaVersion) => {
      const stock = findGpuType(installationOf(hosts, SHIPPED_CATALOG, NOW), L4, {
        products: ['SERVERLESS'],
        count,
        cloud: 'SECURE',
        countryCodes: [],
        cudaVersions: [],
        minCudaVersion,
      })?.stock;
      const gpu = { pools: ['AMPERE_24'], excludedTypes: OTHERS, count, allowedCudaVersions: [], minCudaVersion };
      const isPlaceable = canPlace({ gpu, cpu: null }, hosts);
      expect(stock?.availability !== 'NONE').toBe(isPlaceable);
      expect(stock?.dataCenters.some(({ availability }) => availability !== 'NONE')).toBe(isPlaceable);
    }),
  );
});

test('a CPU flavor is available exactly when a worker of that size can be placed', () => {
  const flavors = fc.constantFrom(...SHIPPED_CATALOG.cpuFlavors.map(({ id }) => id));
  fc.assert(
    fc.property(loads, flavors, fc.constantFrom(2, 4, 8, 16, 32), (hosts, flavorId, vcpuCount) => {
      const query = { products: ['SERVERLESS'], vcpuCount } as const;
      const stock = findCpuFlavor(installationOf(hosts, SHIPPED_CATALOG, NOW), flavorId, query)?.stock;
      const isPlaceable = canPlace({ gpu: null, cpu: [{ flavorId, vcpuCount }] }, hosts);
      expect(stock?.availability !== 'NONE').toBe(isPlaceable);
    }),
  );
});
