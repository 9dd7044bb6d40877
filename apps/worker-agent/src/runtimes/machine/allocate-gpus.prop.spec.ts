import type { HostGpu, WorkerId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { assert, array, boolean, constantFrom, integer, option, property, record } from 'fast-check';
import { allocateGpus } from './allocate-gpus.js';
import { gpuName } from './gpu-device.js';

const TYPES = ['NVIDIA L4', 'NVIDIA A40'];

const gpus = array(constantFrom(...TYPES), { maxLength: 8 }).map((types): readonly HostGpu[] =>
  types.map((typeId, index) => ({
    index,
    typeId,
    memoryBytes: 0,
    ...(index % 2 === 0 ? {} : { uuid: `GPU-${index}` }),
  })),
);
const steps = array(
  record({
    workerId: integer({ min: 0, max: 9 }).map((n) => `w${String(n)}` as WorkerId),
    gpu: option(record({ typeId: constantFrom(...TYPES), count: integer({ min: 1, max: 4 }) })),
    isRelease: boolean(),
  }),
  { maxLength: 40 },
);

describe('allocateGpus', () => {
  test('gives no device to two workers, only devices of the type asked for, and as many as asked for', () => {
    assert(
      property(gpus, steps, (inventory, all) => {
        const held = new Map<WorkerId, readonly string[]>();
        for (const step of all) {
          held.delete(step.isRelease ? step.workerId : ('nobody' as WorkerId));
          if (step.isRelease) continue;
          const allocation = allocateGpus(inventory, held, step);
          if (allocation.kind === 'refused') continue;
          const typesGiven = allocation.gpus.map(({ typeId }) => typeId);
          expect(typesGiven).toEqual(step.gpu === null ? [] : Array(step.gpu.count).fill(step.gpu.typeId));
          held.set(step.workerId, allocation.gpus.map(gpuName));
          const names = [...held.values()].flat();
          expect(new Set(names).size).toBe(names.length);
        }
      }),
    );
  });

  test('refuses only when too few devices of the type are free', () => {
    assert(
      property(gpus, steps, (inventory, all) => {
        const held = new Map<WorkerId, readonly string[]>();
        for (const step of all) {
          const taken = [...held].flatMap(([holder, names]) => (holder === step.workerId ? [] : names));
          const free = inventory.filter((gpu) => gpu.typeId === step.gpu?.typeId && !taken.includes(gpuName(gpu)));
          const allocation = allocateGpus(inventory, held, step);
          const fits = step.gpu === null || free.length >= step.gpu.count;
          expect(allocation.kind).toBe(fits ? 'allocated' : 'refused');
          if (allocation.kind === 'allocated') held.set(step.workerId, allocation.gpus.map(gpuName));
        }
      }),
    );
  });

  test('gives a worker that holds devices the same ones again', () => {
    const inventory = [0, 1, 2].map((index) => ({ index, typeId: 'NVIDIA L4', memoryBytes: 0 }));
    const held = new Map([['w1' as WorkerId, ['2']]]);
    const request = { workerId: 'w1' as WorkerId, gpu: { typeId: 'NVIDIA L4', count: 1 } };
    expect(allocateGpus(inventory, held, request)).toEqual({ kind: 'allocated', gpus: [inventory[2]] });
  });

  test('leaves a card to the worker that holds it by its index, as old agents wrote it, also when others have gone', () => {
    const inventory = [1, 2].map((index) => ({ index, uuid: `GPU-${index}`, typeId: 'NVIDIA L4', memoryBytes: 0 }));
    const held = new Map([
      ['w1' as WorkerId, ['1']],
      ['w2' as WorkerId, ['GPU-0']],
    ]);
    const request = (workerId: string) => ({ workerId: workerId as WorkerId, gpu: { typeId: 'NVIDIA L4', count: 1 } });
    expect(allocateGpus(inventory, held, request('w1'))).toEqual({ kind: 'allocated', gpus: [inventory[0]] });
    expect(allocateGpus(inventory, held, request('w2'))).toEqual({ kind: 'allocated', gpus: [inventory[1]] });
  });

  test('says what is missing', () => {
    const inventory = [{ index: 0, typeId: 'NVIDIA L4', memoryBytes: 0 }];
    const held = new Map([['w1' as WorkerId, ['0']]]);
    const request = { workerId: 'w2' as WorkerId, gpu: { typeId: 'NVIDIA L4', count: 1 } };
    const detail = "needs 1 × NVIDIA L4, but 0 of this host's 1 are free";
    expect(allocateGpus(inventory, held, request)).toEqual({ kind: 'refused', detail });
  });
});
