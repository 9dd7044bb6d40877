import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkerId } from '@berth/domain';
import { ManualClock } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { silentLogger } from '@berth/telemetry';
import { describe, expect, test } from '@jest/globals';
import { readDiskRoom, type DiskRoom } from './disk-room.js';
import { Machine, type MachineOptions } from './machine.js';
import { parseDriverCudaVersion } from './nvidia-gpus.js';
import { USUAL_RESERVE, reservedDisk, reservedMemory } from './reserve.js';
import { parseSimulatedGpus } from './simulated-gpus.js';

const GIB = 1024 ** 3;
const HEADER = `
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+`;

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

  test('takes the memory of a card that the shipped catalog does not have', () => {
    expect(parseSimulatedGpus('Tesla T4:1:12.4:16')).toEqual({
      kind: 'gpus',
      gpus: [{ index: 0, typeId: 'Tesla T4', memoryBytes: 16 * GIB }],
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
    let list = '0, GPU-1, NVIDIA L4, 23034, [N/A]\n';
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
      return args.length > 0 ? '0, GPU-1, NVIDIA L4, 23034, [N/A]\n' : HEADER;
    };
    const service = machine({ nvidiaSmi });
    await service.inventory(PRESENT);
    const before = asked;
    await clock.advance(60_001);
    const gpu = { typeId: 'NVIDIA L4', count: 1 };
    expect(await service.takeGpus('w1' as WorkerId, gpu)).toMatchObject({ nvidia: ['GPU-1'] });
    expect(asked).toBe(before);
  });

  test('reports no GPU when the driver fails', async () => {
    const nvidiaSmi = async (): Promise<never> => {
      throw new Error('driver/library version mismatch');
    };
    expect((await machine({ nvidiaSmi }).inventory(PRESENT)).gpus).toEqual([]);
  });

  test('keeps a part of memory and disk for itself', async () => {
    const all = await machine({ reserve: { memoryBytes: 0, diskBytes: 0 } }).inventory(PRESENT);
    const some = await machine({ reserve: { memoryBytes: GIB / 8, diskBytes: 1 } }).inventory(PRESENT);
    const usual = await machine({}).inventory(PRESENT);
    expect(some.memoryBytes).toBe(all.memoryBytes - GIB / 8);
    expect(usual.memoryBytes).toBe(all.memoryBytes - reservedMemory(all.memoryBytes, USUAL_RESERVE));
    expect(usual.diskBytes).toBeLessThan(all.diskBytes);
  });
});

test.each([
  [1, 1 / 8],
  [8, 0.5],
  [64, 3.2],
  [1_024, 51.2],
])('of %d GiB of memory %d GiB are kept, unless an operator says otherwise', (has, keeps) => {
  expect(reservedMemory(has * GIB, USUAL_RESERVE)).toBe(Math.round(keeps * GIB));
  expect(reservedMemory(has * GIB, { ...USUAL_RESERVE, memoryBytes: 5 })).toBe(5);
});

test.each([
  [16, 2],
  [100, 10],
  [1_000, 50],
])('of %d GiB of disk %d GiB are kept, unless an operator says otherwise', (has, keeps) => {
  expect(reservedDisk(has * GIB, USUAL_RESERVE)).toBe(Math.round(keeps * GIB));
  expect(reservedDisk(has * GIB, { ...USUAL_RESERVE, diskBytes: 0 })).toBe(0);
});

describe('the room on the disk', () => {
  const newFolder = useTempFolders();
  const MIB = 2 ** 20;
  const roomAt = (folder: string, hasWorkers: boolean): Promise<DiskRoom> =>
    readDiskRoom({ folder, hasWorkers, record: join(folder, 'room.json'), logger: silentLogger });

  test('is that of the life before where its workers are still there: what they took is not missing', async () => {
    const folder = await newFolder();
    const before = await roomAt(folder, false);
    // More than the file system could have lost meanwhile by anything else that runs here.
    const noted = { ...before, freeBytes: before.totalBytes };
    await writeFile(join(folder, 'room.json'), JSON.stringify(noted));
    expect(await roomAt(folder, true)).toEqual(noted);
    expect(await roomAt(folder, true)).toEqual(noted);
    expect((await roomAt(folder, false)).freeBytes).toBeLessThan(noted.freeBytes);
  });

  test.each(['', '{', 'null', '{"freeBytes":"x"}', '{"freeBytes":9e15,"totalBytes":1}'])(
    'is read anew where "%s" was noted, which is nothing or of another disk',
    async (noted) => {
      const folder = await newFolder();
      await writeFile(join(folder, 'room.json'), noted);
      const room = await roomAt(folder, true);
      expect(room.freeBytes).toBeLessThan(room.totalBytes);
      expect(JSON.parse(await readFile(join(folder, 'room.json'), 'utf8'))).toEqual(room);
    },
  );

  test('is told although it cannot be noted', async () => {
    const folder = await newFolder();
    const record = join(folder, 'missing', 'room.json');
    const room = await readDiskRoom({ folder, hasWorkers: false, record, logger: silentLogger });
    expect(room.freeBytes).toBeGreaterThan(MIB);
  });
});
