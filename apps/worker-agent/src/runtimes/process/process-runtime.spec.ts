import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { expect, test } from '@jest/globals';
import { TWO_GPUS, testMachine } from '../../../test/test-machine.js';
import { PROBE_SCRIPT, containerRuntimeConformance } from '../container-runtime.conformance.js';
import type { ContainerStart } from '../container-runtime.port.js';
import { Machine } from '../machine/machine.js';
import { ProcessRuntime } from './process-runtime.js';

const newFolder = useTempFolders();

const MANY = 500;

const open = (workersFolder: string, imagesFolder: string, machine = testMachine(TWO_GPUS)): Promise<ProcessRuntime> =>
  ProcessRuntime.open({
    workersFolder,
    imagesFolder,
    machine,
    clock: systemClock,
    random: systemRandom,
    environment: { PATH: '/usr/bin:/bin' },
    setupEnvironment: { PATH: '/usr/bin:/bin' },
  });

async function makeProbe(imagesFolder: string): Promise<void> {
  await mkdir(join(imagesFolder, 'probe'), { recursive: true });
  await writeFile(join(imagesFolder, 'probe', 'worker.json'), JSON.stringify({ command: ['/bin/sh', 'probe.sh'] }));
  await writeFile(join(imagesFolder, 'probe', 'probe.sh'), PROBE_SCRIPT);
}

containerRuntimeConformance('process', async () => {
  const root = await newFolder();
  const imagesFolder = join(root, 'images');
  await makeProbe(imagesFolder);
  return {
    gpuTypeId: 'NVIDIA L4',
    areGpusSimulated: true,
    keepsVcpus: false,
    probeImage: 'local/probe',
    missingImage: 'local/nothing:latest',
    newFolder,
    open: () => open(join(root, 'workers'), imagesFolder),
    close: async () => undefined,
  };
});

test('a GPU process is told the CUDA version of the driver, unless its tenant knows better, and others of none', async () => {
  const [workersFolder, root] = await Promise.all([newFolder(), newFolder()]);
  await makeProbe(root);
  const runtime = await open(workersFolder, root, testMachine(TWO_GPUS, '12.4'));
  const saysOf = async (id: string, more: Partial<ContainerStart>): Promise<readonly string[]> => {
    const workerId = id as WorkerId;
    const labels = {
      hostId: 'h1' as HostId,
      workerId,
      endpointId: 'e1' as EndpointId,
      release: 1,
      image: 'local/probe',
    };
    const limits = { vcpus: 1, memoryBytes: 1, diskBytes: 2e9 };
    await runtime.start({
      labels,
      args: ['show', 'CUDA_VERSION'],
      env: {},
      limits,
      gpu: null,
      ...more,
    });
    await eventually(async () => expect((await runtime.inspect(workerId))?.state.kind).toBe('ended'));
    return runtime.logs(workerId, 1);
  };
  const gpu = { typeId: 'NVIDIA L4', count: 1 };
  expect(await saysOf('w1', { gpu })).toEqual(['12.4']);
  expect(await saysOf('w2', { gpu, env: { CUDA_VERSION: '11.8' } })).toEqual(['11.8']);
  expect(await saysOf('w3', {})).toEqual([]);
  for (const { labels } of await runtime.list()) await runtime.remove(labels.workerId);
  await runtime.close();
});

test('many workers that are removed at one time are removed, whatever else runs on the machine', async () => {
  const [workersFolder, imagesFolder] = await Promise.all([newFolder(), newFolder()]);
  const runtime = await open(workersFolder, imagesFolder);
  const workerIds = Array.from({ length: MANY }, (_, at) => `w${at}` as WorkerId);
  for (const workerId of workerIds) {
    await mkdir(join(workersFolder, workerId));
    await writeFile(
      join(workersFolder, workerId, 'labels.json'),
      JSON.stringify({ labels: { workerId }, gpuIndexes: [] }),
    );
  }
  expect(await runtime.list()).toHaveLength(MANY);
  await Promise.all(workerIds.map((workerId) => runtime.remove(workerId)));
  expect(await runtime.list()).toEqual([]);
  await runtime.close();
});

test('a worker is told of the cards that it holds, and carries a note when one is gone', async () => {
  const [workersFolder, imagesFolder] = await Promise.all([newFolder(), newFolder()]);
  await makeProbe(imagesFolder);
  const clock = new ManualClock();
  let list = '0, GPU-5d5b, NVIDIA L4, 23034, [N/A]\n';
  const gpus = { simulatedGpus: null, nvidiaSmi: async () => list, rocmSmi: async () => null };
  const machine = new Machine({ ...gpus, clock, logger: silentLogger, diskFolder: '/', vcpus: null });
  const runtime = await open(workersFolder, imagesFolder, machine);
  const start = (workerId: string, args: readonly string[], count: number): ContainerStart => {
    const labels = {
      hostId: 'h1' as HostId,
      workerId: workerId as WorkerId,
      endpointId: 'e1' as EndpointId,
      release: 1,
    };
    const gpu = count === 0 ? null : { typeId: 'NVIDIA L4', count };
    const limits = { vcpus: 1, memoryBytes: 1, diskBytes: null };
    const env = { CUDA_VISIBLE_DEVICES: '0,1,2' };
    return { labels: { ...labels, image: 'local/probe' }, args, env, limits, gpu };
  };
  const [holder, other] = ['w1' as WorkerId, 'w2' as WorkerId];
  await runtime.start(start(holder, ['show', 'CUDA_VISIBLE_DEVICES'], 1));
  await runtime.start(start(other, ['show', 'NVIDIA_VISIBLE_DEVICES'], 0));
  await eventually(async () => expect(await runtime.logs(holder, 5)).toEqual(['GPU-5d5b']));
  await eventually(async () => expect(await runtime.logs(other, 5)).toEqual(['void']));
  list = '';
  await clock.advance(60_001);
  expect((await runtime.inventory()).gpus).toEqual([]);
  const notes = new Map((await runtime.list()).map(({ labels, notes: all = [] }) => [labels.workerId, all.join(' ')]));
  expect(notes.get(holder)).toContain('GPU GPU-5d5b, which the worker holds, is gone');
  expect(notes.get(other)).not.toContain('gone');
  for (const workerId of [holder, other]) await runtime.remove(workerId);
  await runtime.close();
});
