import { describe, expect, test } from '@jest/globals';
import { manufacturerOf } from './gpu-types.js';
import { SHIPPED_CATALOG } from './shipped-catalog.js';

describe('the GPU catalog', () => {
  test('names every type once', () => {
    const ids = SHIPPED_CATALOG.gpuTypes.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(SHIPPED_CATALOG.gpuTypes.map(({ name }) => name)).size).toBe(ids.length);
  });

  test.each([
    ['NVIDIA GeForce RTX 4090', 'RTX 4090', 24, 'ADA_24', 'NVIDIA', 0.00031],
    ['NVIDIA GeForce RTX 5090', 'RTX 5090', 32, 'ADA_32_PRO', 'NVIDIA', null],
    ['NVIDIA H100 80GB HBM3', 'H100 SXM', 80, 'ADA_80_PRO', 'NVIDIA', 0.00116],
    ['NVIDIA B200', 'B200', 180, 'BLACKWELL_180', 'NVIDIA', 0.0024],
    ['AMD Instinct MI300X OAM', 'MI300X', 192, null, 'AMD', null],
    ['Tesla V100-SXM2-32GB', 'V100 SXM2 32GB', 32, null, 'NVIDIA', null],
    ['NVIDIA GeForce RTX 4080 SUPER', 'RTX 4080 SUPER', 16, null, 'NVIDIA', null],
  ])('knows %s', (...[id, name, memoryGb, pool, manufacturer, serverlessUsdPerSecond]) => {
    expect(SHIPPED_CATALOG.gpuType(id)).toEqual({ id, name, memoryGb, pool, manufacturer, serverlessUsdPerSecond });
  });

  test.each([
    ['NVIDIA RTX 9999', 'NVIDIA'],
    ['Tesla T4', 'NVIDIA'],
    ['AMD Instinct MI400', 'AMD'],
    ['Radeon PRO W7900', 'AMD'],
    ['Gaudi 3', 'UNKNOWN'],
    ['AMDAHL 1', 'UNKNOWN'],
  ])('takes the maker of %s from its name', (typeId, manufacturer) => {
    expect(manufacturerOf(typeId)).toBe(manufacturer);
  });

  test('has the eleven serverless pools, and every type in at most one', () => {
    expect(SHIPPED_CATALOG.gpuPools).toEqual([
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
    const pooled = SHIPPED_CATALOG.gpuPools.flatMap((pool) => SHIPPED_CATALOG.gpuTypesOfPool(pool));
    expect(pooled).toHaveLength(SHIPPED_CATALOG.gpuTypes.filter(({ pool }) => pool !== null).length);
  });

  test('finds nothing for a card or a pool that it does not have', () => {
    expect(SHIPPED_CATALOG.gpuType('NVIDIA RTX 9999')).toBeUndefined();
    expect(SHIPPED_CATALOG.gpuTypesOfPool('ADA_25')).toEqual([]);
  });
});
