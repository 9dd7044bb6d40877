import { describe, expect, test } from '@jest/globals';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { CpuRequest, GpuRequest } from '../hardware-request/index.js';
import { checkCatalogs } from './check-catalogs.js';
import { describeFailures } from './field-failure.js';

const ofGpu = (fields: Partial<GpuRequest>): readonly string[] => {
  const gpu = {
    pools: ['ADA_24'],
    excludedTypes: [],
    count: 1,
    allowedCudaVersions: [],
    minCudaVersion: null,
    ...fields,
  };
  return describeFailures(checkCatalogs({ gpu, cpu: null }, SHIPPED_CATALOG));
};

const ofCpu = (...cpu: CpuRequest[]): readonly string[] =>
  describeFailures(checkCatalogs({ gpu: null, cpu }, SHIPPED_CATALOG));

describe('what the catalogs have', () => {
  test('needs no words', () => {
    expect(ofGpu({ pools: ['ADA_24', 'AMPERE_24'], excludedTypes: ['NVIDIA L4'] })).toEqual([]);
    expect(ofCpu({ flavorId: 'cpu3c', vcpuCount: 2 }, { flavorId: 'cpu5m', vcpuCount: 32 })).toEqual([]);
    expect(checkCatalogs({ gpu: null, cpu: null }, SHIPPED_CATALOG)).toEqual([]);
  });
});

describe('what the catalogs do not have', () => {
  const pools = SHIPPED_CATALOG.gpuPools.join(', ');

  test('pools, with the nearest and all that there are', () => {
    expect(ofGpu({ pools: ['ADA_24', 'ADA24', 'H100'] })).toEqual([
      `$.gpu.pools[1]: unknown GPU pool 'ADA24' (did you mean 'ADA_24'?); known are ${pools}`,
      `$.gpu.pools[2]: unknown GPU pool 'H100'; known are ${pools}`,
    ]);
  });

  test('exclusions: each says where its type is', () => {
    const excludedTypes = ['NVIDIA GeForce RTX 4090', 'NVIDIA A40', 'NVIDIA A30', 'NVIDIA A4O', 'no such card'];
    expect(ofGpu({ pools: ['ADA_24', 'AMPERE_24'], excludedTypes })).toEqual([
      "$.gpu.excludedTypes[1]: 'NVIDIA A40' is in pool 'AMPERE_48', which is not among the chosen pools (ADA_24, AMPERE_24)",
      "$.gpu.excludedTypes[2]: 'NVIDIA A30' is in no serverless pool, so there is nothing to exclude; leave it out",
      "$.gpu.excludedTypes[3]: unknown GPU type 'NVIDIA A4O' (did you mean 'NVIDIA A40'?); the GPU catalog lists the known ones",
      "$.gpu.excludedTypes[4]: unknown GPU type 'no such card'; the GPU catalog lists the known ones",
    ]);
  });

  test('a selection that leaves nothing', () => {
    expect(ofGpu({ excludedTypes: ['NVIDIA GeForce RTX 4090'] })).toEqual([
      "$.gpu.excludedTypes: excludes every GPU type of the chosen pools; keep at least one of 'NVIDIA GeForce RTX 4090'",
    ]);
  });

  test('flavors, and sizes of a flavor, each with the nearest', () => {
    const known = 'cpu3c, cpu3g, cpu3m, cpu5c, cpu5g, cpu5m';
    expect(
      ofCpu(
        { flavorId: 'cpu3c', vcpuCount: 64 },
        { flavorId: 'cpu9c', vcpuCount: 2 },
        { flavorId: 'big', vcpuCount: 2 },
      ),
    ).toEqual([
      "$.cpu[0].vcpuCount: 'cpu3c' has 2 to 32 vCPU, not 64; nearest is 32",
      `$.cpu[1].id: unknown CPU flavor 'cpu9c' (did you mean 'cpu3c'?); known are ${known}`,
      `$.cpu[2].id: unknown CPU flavor 'big'; known are ${known}`,
    ]);
  });
});
