import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkerId } from '@berth/domain';
import { systemClock, type Clock } from '@berth/lifecycle';
import { silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { describe, expect, test } from '@jest/globals';
import { GpuTool, type AskTool } from '../../src/runtimes/machine/gpu-tool.js';
import { Machine, type MachineOptions } from '../../src/runtimes/machine/machine.js';
import { nvidiaSmi, outputOf } from './tool-outputs.js';

const newFolder = useTempFolders();
const W1 = 'w1' as WorkerId;
const W2 = 'w2' as WorkerId;
const MINUTE_MS = 60_001;
const H100 = { typeId: 'NVIDIA H100 80GB HBM3', count: 1 };
const WORD = { runtime: 'process', images: [] } as const;
const FIRST = 'GPU-0000aaaa-1b2c-3d4e-5f60-71829394a5b0';
const SECOND = 'GPU-1111aaaa-1b2c-3d4e-5f60-71829394a5b1';

const machineOf = (clock: Clock, more: Partial<MachineOptions>): Machine =>
  new Machine({
    ...{ clock, logger: silentLogger, diskFolder: '/', vcpus: null, simulatedGpus: null },
    ...{ nvidiaSmi: async () => null, rocmSmi: async () => null, findRenderNode: async () => undefined },
    ...more,
  });

const countGpus = async (machine: Machine): Promise<number> => (await machine.inventory(WORD)).gpus.length;

describe('a tool that fails', () => {
  const clock = new ManualClock();
  let tool: AskTool = nvidiaSmi({ query: 'eight-cards.query' });
  const machine = machineOf(clock, { nvidiaSmi: (args) => tool(args) });
  const lookAgain = async (): Promise<number> => {
    await clock.advance(MINUTE_MS);
    return countGpus(machine);
  };

  test('costs the host its cards at the third time in a row, but for those that it names; who holds one is told', async () => {
    expect(await countGpus(machine)).toBe(8);
    await machine.takeGpus(W1, H100);
    await machine.takeGpus(W2, H100);
    tool = nvidiaSmi({ query: '', fails: 'lost-handle.query' });
    expect([await lookAgain(), await lookAgain()]).toEqual([8, 8]);
    tool = nvidiaSmi({ query: 'eight-cards.query' });
    expect(await lookAgain()).toBe(8);
    tool = nvidiaSmi({ query: '', fails: 'lost-handle.query' });
    expect([await lookAgain(), await lookAgain()]).toEqual([8, 8]);
    expect([machine.notesOn(W1), machine.notesOn(W2)]).toEqual([[], []]);
    expect(await lookAgain()).toBe(1);
    expect(machine.notesOn(W1)).toEqual([]);
    expect(machine.notesOn(W2)).toEqual([expect.stringContaining(`GPU ${SECOND}, which the worker holds, is gone`)]);
    tool = nvidiaSmi({ query: 'eight-cards.query' });
    expect(await lookAgain()).toBe(8);
    expect(machine.notesOn(W2)).toEqual([]);
  });

  test('from the beginning leaves it unknown what the workers of an earlier life hold, for as long', async () => {
    const unlucky = machineOf(clock, { nvidiaSmi: nvidiaSmi({ query: '', fails: 'no-driver' }) });
    unlucky.adoptGpus(W1, [FIRST]);
    for (const notes of [0, 0, 1]) {
      expect(await countGpus(unlucky)).toBe(0);
      expect(unlucky.notesOn(W1)).toHaveLength(notes);
      await clock.advance(MINUTE_MS);
    }
  });
});

describe('GPUs are given', () => {
  test('by UUID, hidden where a worker has none, and left to who holds them by an old name', async () => {
    const machine = machineOf(new ManualClock(), { nvidiaSmi: nvidiaSmi({ query: 'eight-cards.query' }) });
    machine.adoptGpus(W1, ['0']);
    expect(await machine.takeGpus(W2, H100)).toEqual({ names: [SECOND], nvidia: [SECOND], amd: null, renderNodes: [] });
    expect(await machine.takeGpus('w3' as WorkerId, null)).toMatchObject({ names: [], nvidia: [] });
    expect(machine.notesOn(W1)).toEqual([]);
  });

  test('of AMD by the unique id and the file of each card, behind those of NVIDIA', async () => {
    const machine = machineOf(new ManualClock(), {
      nvidiaSmi: nvidiaSmi({ query: 'one-card.query' }),
      rocmSmi: async () => outputOf('two-cards.rocm'),
      findRenderNode: async (bus) => `/dev/dri/renderD${bus.startsWith('0000:C1') ? '128' : '129'}`,
    });
    expect((await machine.inventory(WORD)).gpus.map(({ index }) => index)).toEqual([0, 1, 2]);
    const instinct = await machine.takeGpus(W1, { typeId: 'AMD Instinct MI300X OAM', count: 1 });
    const name = 'GPU-8a3b4c5d6e7f8091';
    expect(instinct).toEqual({ names: [name], nvidia: [], amd: [name], renderNodes: ['/dev/dri/renderD128'] });
    const radeon = await machine.takeGpus(W2, { typeId: 'Radeon RX 7900 XTX', count: 1 });
    expect(radeon).toEqual({ names: ['2'], nvidia: [], amd: ['1'], renderNodes: ['/dev/dri/renderD129'] });
  });
});

describe('a tool that hangs', () => {
  /** The way to an executable of these lines. */
  const install = async (script: string): Promise<string> => {
    const file = join(await newFolder(), 'nvidia-smi');
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
    return file;
  };

  test('keeps neither a report nor a start waiting', async () => {
    const tool = new GpuTool({ file: await install('exec sleep 600'), timeoutMs: 50, clock: systemClock });
    const machine = machineOf(systemClock, { nvidiaSmi: tool.ask });
    expect(await countGpus(machine)).toBe(0);
    await expect(machine.takeGpus(W1, H100)).rejects.toMatchObject({ reason: 'no-such-device' });
    expect(await machine.takeGpus(W2, null)).toMatchObject({ names: [] });
  });

  test('is waited for by a report for five seconds at first and one later, and asked once at a time', async () => {
    const clock = new ManualClock();
    let questions = 0;
    let answer: (text: string) => void = () => undefined;
    const slow: AskTool = () => {
      questions += 1;
      return new Promise((resolve) => (answer = resolve));
    };
    const machine = machineOf(clock, { nvidiaSmi: slow });
    const first = countGpus(machine);
    await eventually(() => expect(questions).toBe(1));
    await clock.advance(5_000);
    expect(await first).toBe(0);
    const second = countGpus(machine);
    const start = machine.takeGpus(W2, null);
    await clock.advance(5_000);
    expect([await second, (await start).names, questions]).toEqual([0, [], 1]);
    answer('');
    await eventually(async () => expect(await countGpus(machine)).toBe(0));
  });

  test('and is away at last is asked again', async () => {
    const file = await install('if [ -e "$0.again" ]; then echo here; else exec sleep 600; fi');
    const tool = new GpuTool({ file, timeoutMs: 1_000, clock: systemClock });
    await expect(tool.ask(['-L'])).rejects.toThrow('gave no answer within 1 s');
    await writeFile(`${file}.again`, '');
    await eventually(async () => expect(await tool.ask(['-L'])).toBe('here\n'));
  });
});
