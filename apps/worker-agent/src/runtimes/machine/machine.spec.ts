import type { WorkerId } from '@berth/domain';
import { ManualClock } from '@berth/testing';
import { silentLogger } from '@berth/telemetry';
import { describe, expect, test } from '@jest/globals';
import { Machine, type MachineOptions } from './machine.js';
import { parseDriverCudaVersion, parseGpuList } from './nvidia-gpus.js';
import { parseSimulatedGpus } from './simulated-gpus.js';

const GIB = 1024 ** 3;
const HEADER = `
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+`;

describe('parseGpuList', () => {
  test('reads index, type and memory of each device', () => {
    const text = '0, NVIDIA H200, 143771\n1, NVIDIA GeForce RTX 4090, 24564\n';
    expect(parseGpuList(text)).toEqual([
      { index: 0, typeId: 'NVIDIA H200', memoryBytes: 143771 * 1024 ** 2 },
      { index: 1, typeId: 'NVIDIA GeForce RTX 4090', memoryBytes: 24564 * 1024 ** 2 },
    ]);
  });

  test('leaves out what is no device', () => {
    expect(parseGpuList('No devices were found\n')).toEqual([]);
    expect(parseGpuList('Unable to determine the device handle for GPU0, lost\n0, NVIDIA L4, [N/A]\n')).toEqual([
      { index: 0, typeId: 'NVIDIA L4', memoryBytes: 24 * GIB },
    ]);
  });
});

test.each([
  [HEADER, '12.4'],
  ['CUDA UMD Version: 13.0', '13.0'],
  ['CUDA Version: N/A', null],
])('the CUDA version stands in the header', (text, version) => {
  expect(parseDriverCudaVersion(text)).toBe(version);
});

describe('parseSimulatedGpus', () => {
  test('numbers all devices, and takes the lowest CUDA version', () => {
    expect(parseSimulatedGpus('NVIDIA GeForce RTX 4090:2:12.10, NVIDIA L4:1:12.4')).toEqual({
      kind: 'gpus',
      gpus: [
        { index: 0, typeId: 'NVIDIA GeForce RTX 4090', memoryBytes: 24 * GIB },
        { index: 1, typeId: 'NVIDIA GeForce RTX 4090', memoryBytes: 24 * GIB },
        { index: 2, typeId: 'NVIDIA L4', memoryBytes: 24 * GIB },
      ],
      cudaVersion: '12.4',
    });
  });

  test.each([
    '',
    'NVIDIA L4',
    'NVIDIA L4:2',
    'NVIDIA L4:0:12.4',
    'NVIDIA L4:65:12.4',
    'My GPU:1:12.4',
    'NVIDIA L4:1:12.4,',
  ])('refuses "%s" and says why', (text) => {
    expect(parseSimulatedGpus(text)).toEqual({ kind: 'malformed', detail: expect.stringMatching(/./) });
  });
});

const PRESENT = { runtime: 'process', images: ['local/echo'] } as const;

describe('a machine', () => {
  const clock = new ManualClock();
  const machine = (more: Partial<MachineOptions>): Machine =>
    new Machine({
      clock,
      logger: silentLogger,
      diskFolder: '/',
      vcpus: null,
      simulatedGpus: null,
      nvidiaSmi: async () => null,
      ...more,
    });

  test('tells what the machine has', async () => {
    const read = await machine({}).inventory(PRESENT);
    expect(read).toMatchObject({ gpus: [], areGpusSimulated: false, cudaVersion: null, isOvercommitted: false });
    expect(read).toMatchObject({ runtime: 'process', images: ['local/echo'] });
    expect(read.vcpus).toBeGreaterThan(0);
    expect(read.memoryBytes).toBeGreaterThan(GIB / 4);
    expect(read.diskBytes).toBeGreaterThan(0);
  });

  test('marks vCPU above the cores, and simulated GPUs', async () => {
    const gpus = [{ index: 0, typeId: 'NVIDIA L4', memoryBytes: 24 * GIB }];
    const read = await machine({ vcpus: 100_000, simulatedGpus: { gpus, cudaVersion: '12.4' } }).inventory(PRESENT);
    expect(read).toMatchObject({
      vcpus: 100_000,
      isOvercommitted: true,
      areGpusSimulated: true,
      gpus,
      cudaVersion: '12.4',
    });
  });

  test('asks the driver once a minute', async () => {
    let list = '0, NVIDIA L4, 23034\n';
    const nvidiaSmi = async (args: readonly string[]): Promise<string> => (args.length > 0 ? list : HEADER);
    const service = machine({ nvidiaSmi });
    expect(await service.inventory(PRESENT)).toMatchObject({ cudaVersion: '12.4', gpus: [{ typeId: 'NVIDIA L4' }] });
    list = '';
    expect((await service.inventory(PRESENT)).gpus).toHaveLength(1);
    await clock.advance(60_001);
    expect(await service.inventory(PRESENT)).toMatchObject({ cudaVersion: null, gpus: [] });
  });

  test('gives GPUs out by what it knows: a start does not wait for the driver', async () => {
    let asked = 0;
    const nvidiaSmi = async (args: readonly string[]): Promise<string> => {
      asked += 1;
      return args.length > 0 ? '0, NVIDIA L4, 23034\n' : HEADER;
    };
    const service = machine({ nvidiaSmi });
    await service.inventory(PRESENT);
    const before = asked;
    await clock.advance(60_001);
    const gpu = { typeId: 'NVIDIA L4', count: 1 };
    expect(await service.takeGpus('w1' as WorkerId, gpu)).toEqual({ indexes: [0], areReal: true });
    expect(asked).toBe(before);
  });

  test('reports no GPU when the driver fails', async () => {
    const nvidiaSmi = async (): Promise<never> => {
      throw new Error('driver/library version mismatch');
    };
    expect((await machine({ nvidiaSmi }).inventory(PRESENT)).gpus).toEqual([]);
  });
});
