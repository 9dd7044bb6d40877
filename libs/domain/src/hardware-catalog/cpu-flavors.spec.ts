import { describe, expect, test } from '@jest/globals';
import { cpuMemoryGb } from './cpu-flavors.js';
import { SHIPPED_CATALOG } from './shipped-catalog.js';

describe('the CPU flavors', () => {
  test.each([
    ['cpu3c', 2, 4],
    ['cpu3g', 2, 8],
    ['cpu3m', 4, 32],
    ['cpu5c', 32, 64],
    ['cpu5g', 8, 32],
    ['cpu5m', 16, 128],
  ])('%s with %d vCPU has %d GB', (flavorId, vcpuCount, memoryGb) => {
    const flavor = SHIPPED_CATALOG.cpuFlavors.find(({ id }) => id === flavorId);
    expect(flavor === undefined ? null : cpuMemoryGb(flavor, vcpuCount)).toBe(memoryGb);
  });

  test('have the prices that are published, and none where none is', () => {
    const prices = SHIPPED_CATALOG.cpuFlavors.map(({ id, podUsdPerHour, serverlessUsdPerHour }) => [
      id,
      podUsdPerHour,
      serverlessUsdPerHour,
    ]);
    expect(prices).toEqual([
      ['cpu3c', 0.03, 0.036],
      ['cpu3g', 0.04, 0.05],
      ['cpu3m', null, null],
      ['cpu5c', 0.035, 0.042],
      ['cpu5g', null, null],
      ['cpu5m', 0.065, null],
    ]);
  });

  test('memory is whole GB and at least one', () => {
    expect(cpuMemoryGb({ ramGbPerVcpu: 2.25 }, 2)).toBe(4);
    expect(cpuMemoryGb({ ramGbPerVcpu: 0.1 }, 2)).toBe(1);
  });

  test('an unknown flavor is not found', () => {
    expect(SHIPPED_CATALOG.cpuFlavor('cpu9z')).toBeUndefined();
  });
});
