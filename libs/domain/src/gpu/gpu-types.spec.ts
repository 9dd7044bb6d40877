import { describe, expect, test } from '@jest/globals';
import { GPU_POOLS, GPU_TYPES, gpuTypeById, gpuTypesOfPool } from './gpu-types.js';

describe('the GPU catalog', () => {
  test('names every type once', () => {
    const ids = GPU_TYPES.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(GPU_TYPES.map(({ name }) => name)).size).toBe(ids.length);
  });

  test.each([
    ['NVIDIA GeForce RTX 4090', 'RTX 4090', 24, 'ADA_24', 'NVIDIA'],
    ['NVIDIA H100 80GB HBM3', 'H100 SXM', 80, 'ADA_80_PRO', 'NVIDIA'],
    ['NVIDIA B200', 'B200', 180, 'BLACKWELL_180', 'NVIDIA'],
    ['AMD Instinct MI300X OAM', 'MI300X', 192, null, 'AMD'],
    ['Tesla V100-SXM2-32GB', 'V100 SXM2 32GB', 32, null, 'NVIDIA'],
    ['NVIDIA GeForce RTX 4080 SUPER', 'RTX 4080 SUPER', 16, null, 'NVIDIA'],
  ])('knows %s', (...[id, name, memoryGb, pool, manufacturer]) => {
    expect(gpuTypeById(id)).toEqual({ id, name, memoryGb, pool, manufacturer });
  });

  test('has the eleven serverless pools, and every type in at most one', () => {
    expect(GPU_POOLS).toEqual([
      'AMPERE_16',
      'AMPERE_24',
      'ADA_24',
      'ADA_32_PRO',
      'AMPERE_48',
      'ADA_48_PRO',
      'AMPERE_80',
      'ADA_80_PRO',
      'BLACKWELL_96',
      'HOPPER_141',
      'BLACKWELL_180',
    ]);
    const pooled = GPU_POOLS.flatMap((pool) => gpuTypesOfPool(pool));
    expect(pooled).toHaveLength(GPU_TYPES.filter(({ pool }) => pool !== null).length);
  });

  test('finds nothing for a card or a pool that it does not have', () => {
    expect(gpuTypeById('NVIDIA RTX 9999')).toBeUndefined();
    expect(gpuTypesOfPool('ADA_25')).toEqual([]);
  });
});
