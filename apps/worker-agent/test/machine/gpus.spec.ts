import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useTempFolders } from '@berth/testing/folders';
import { describe, expect, test } from '@jest/globals';
import { groupsOf, parseAmdCards, readAmdGpus } from '../../src/runtimes/machine/amd-gpus.js';
import { GpuToolError, type AskTool } from '../../src/runtimes/machine/gpu-tool.js';
import { parseCards, readNvidiaGpus } from '../../src/runtimes/machine/nvidia-gpus.js';
import { nvidiaSmi, outputOf } from './tool-outputs.js';

const newFolder = useTempFolders();
const GIB = 2 ** 30;
const MIB = 2 ** 20;
const namesOf = (name: string): readonly (string | undefined)[] =>
  parseCards(outputOf(name)).map(({ gpu }) => gpu.uuid);

describe('the cards that nvidia-smi names', () => {
  test('are one with its UUID, its type and its memory', async () => {
    expect(await readNvidiaGpus(nvidiaSmi({ query: 'one-card.query' }))).toEqual({
      kind: 'read',
      cudaVersion: '12.4',
      gpus: [
        {
          ...{ index: 0, uuid: 'GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77', typeId: 'NVIDIA GeForce RTX 4090' },
          ...{ memoryBytes: 24_564 * MIB, maker: 'nvidia' },
        },
      ],
    });
  });

  test('are eight', async () => {
    const { gpus } = await readNvidiaGpus(nvidiaSmi({ query: 'eight-cards.query' }));
    expect(gpus.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(new Set(gpus.map(({ uuid }) => uuid)).size).toBe(8);
    expect(new Set(gpus.map(({ typeId }) => typeId))).toEqual(new Set(['NVIDIA H100 80GB HBM3']));
  });

  test('are slices of those that are sliced, and not these as well; one without slices offers nothing', async () => {
    const { gpus } = await readNvidiaGpus(nvidiaSmi({ query: 'mig.query', list: 'mig.list' }));
    expect(
      gpus.map(({ index, memoryBytes, typeId, uuid }) => [index, typeId, memoryBytes, uuid?.slice(0, 12)]),
    ).toEqual([
      [1, 'NVIDIA A100-SXM4-80GB', 81_920 * MIB, 'GPU-1f7a2b3c'],
      [3, 'NVIDIA A100-SXM4-80GB MIG 3g.40gb', 40e9, 'MIG-7a6b5c4d'],
      [4, 'NVIDIA A100-SXM4-80GB MIG 1g.10gb', 10e9, 'MIG-c6d4f1ef'],
      [5, 'NVIDIA A100-SXM4-80GB MIG 1g.10gb', 10e9, 'MIG-0bd50dd1'],
    ]);
  });

  test('are not those that do not answer, or must be reset', () => {
    expect(namesOf('lost-handle.query')).toEqual(['GPU-0000aaaa-1b2c-3d4e-5f60-71829394a5b0']);
    expect(namesOf('needs-reset.query')).toEqual(['GPU-0000aaaa-1b2c-3d4e-5f60-71829394a5b0']);
    expect(parseCards('No devices were found\n')).toEqual([]);
  });

  test('have the memory of their type where they share that of the machine', async () => {
    const { gpus } = await readNvidiaGpus(nvidiaSmi({ query: 'shared-memory.query' }));
    expect(gpus).toMatchObject([{ typeId: 'NVIDIA L4', memoryBytes: 24 * GIB }]);
  });

  test('are asked for again without slices where the driver knows none', async () => {
    const old: AskTool = async ([question = '']) => {
      if (!question.includes('mig.mode')) return outputOf(question === '' ? 'header' : 'old-driver.query');
      throw new GpuToolError('refused', outputOf('old-driver.refusal'));
    };
    const { gpus } = await readNvidiaGpus(old);
    expect(gpus).toMatchObject([{ index: 0, typeId: 'Tesla V100-SXM2-16GB' }]);
  });

  test('are none without the tool; a driver that is away is a failure, and so is one that names some cards only', async () => {
    expect(await readNvidiaGpus(async () => null)).toEqual({ kind: 'read', gpus: [], cudaVersion: null });
    const away = await readNvidiaGpus(nvidiaSmi({ query: 'one-card.query', fails: 'no-driver' }));
    expect(away).toMatchObject({ kind: 'failed', detail: expect.stringContaining('has failed'), gpus: [] });
    const some = await readNvidiaGpus(nvidiaSmi({ query: 'eight-cards.query', fails: 'lost-handle.query' }));
    expect(some).toMatchObject({ kind: 'failed', gpus: [{ index: 0 }] });
  });
});

describe('the cards that rocm-smi names', () => {
  const nodes: Readonly<Record<string, string>> = {
    '0000:C1:00.0': '/dev/dri/renderD128',
    '0000:0B:00.0': '/dev/dri/renderD129',
  };

  test('have what their libraries call them, and the file by which a container reaches each', async () => {
    const read = await readAmdGpus(
      async () => outputOf('two-cards.rocm'),
      async (bus) => nodes[bus],
    );
    expect(read).toEqual({
      kind: 'read',
      cudaVersion: null,
      gpus: [
        {
          ...{ index: 0, uuid: 'GPU-8a3b4c5d6e7f8091', typeId: 'AMD Instinct MI300X OAM', maker: 'amd' },
          ...{ memoryBytes: 206_141_652_992, renderNode: '/dev/dri/renderD128' },
        },
        {
          ...{ index: 1, typeId: 'Radeon RX 7900 XTX', maker: 'amd' },
          ...{ memoryBytes: 25_753_026_560, renderNode: '/dev/dri/renderD129' },
        },
      ],
    });
  });

  test('are opened by the groups of their files, each once, but for that of root; a file that is not there has none', async () => {
    const folder = await newFolder();
    const file = async (name: string, group: number): Promise<string> => {
      await writeFile(join(folder, name), '');
      await chown(join(folder, name), Number(process.getuid?.()), group);
      return join(folder, name);
    };
    const own = (process.getgroups?.() ?? []).filter((group) => group !== 0);
    // Only root may give files to any group.
    const [render, video] = process.getuid?.() === 0 ? [109, 44] : [Number(own[0]), Number(own.at(-1))];
    const files = [await file('kfd', render), await file('renderD128', video), await file('renderD129', render)];
    expect(await groupsOf([...files, join(folder, 'gone')])).toEqual(
      [...new Set([video, render])].toSorted((a, b) => a - b),
    );
    expect(await groupsOf(['/'])).toEqual([]);
  });

  test('are none without the tool, and without a file; what is no JSON is a failure', async () => {
    expect(
      await readAmdGpus(
        async () => null,
        async () => undefined,
      ),
    ).toMatchObject({ kind: 'read', gpus: [] });
    const unreachable = readAmdGpus(
      async () => outputOf('two-cards.rocm'),
      async () => undefined,
    );
    expect(await unreachable).toMatchObject({ kind: 'read', gpus: [] });
    expect(parseAmdCards('ERROR: 2 GPU[0]: get_name failed')).toBeNull();
    const failed = readAmdGpus(
      async () => 'Unable to open /sys/kernel',
      async () => undefined,
    );
    expect(await failed).toMatchObject({ kind: 'failed' });
  });
});
