import { describe, expect, test } from '@jest/globals';
import { CPU_FLAVORS, cpuFlavorById, cpuMemoryGb } from './cpu-flavors.js';

describe('the CPU flavors', () => {
  test.each([
    ['cpu3c', 2, 4],
    ['cpu3g', 2, 8],
    ['cpu3m', 4, 32],
    ['cpu5c', 32, 64],
    ['cpu5g', 8, 32],
    ['cpu5m', 16, 128],
  ])('%s with %d vCPU has %d GB', (flavorId, vcpuCount, memoryGb) => {
    const flavor = CPU_FLAVORS.find(({ id }) => id === flavorId);
    expect(flavor === undefined ? null : cpuMemoryGb(flavor, vcpuCount)).toBe(memoryGb);
  });

  test('memory is whole GB and at least one', () => {
    expect(cpuMemoryGb({ ramGbPerVcpu: 2.25 }, 2)).toBe(4);
    expect(cpuMemoryGb({ ramGbPerVcpu: 0.1 }, 2)).toBe(1);
  });

  test('an unknown flavor is not found', () => {
    expect(cpuFlavorById('cpu9z')).toBeUndefined();
  });
});
