import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkerId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { useTempFolders } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { TWO_GPUS, testMachine } from '../../../test/test-machine.js';
import { PROBE_SCRIPT, containerRuntimeConformance } from '../container-runtime.conformance.js';
import { ProcessRuntime } from './process-runtime.js';

const newFolder = useTempFolders();

const MANY = 500;

const open = (workersFolder: string, imagesFolder: string): Promise<ProcessRuntime> =>
  ProcessRuntime.open({
    workersFolder,
    imagesFolder,
    machine: testMachine(TWO_GPUS),
    clock: systemClock,
    random: systemRandom,
    environment: { PATH: '/usr/bin:/bin' },
    setupEnvironment: { PATH: '/usr/bin:/bin' },
  });

containerRuntimeConformance('process', async () => {
  const root = await newFolder();
  const imagesFolder = join(root, 'images');
  await mkdir(join(imagesFolder, 'probe'), { recursive: true });
  await writeFile(join(imagesFolder, 'probe', 'worker.json'), JSON.stringify({ command: ['/bin/sh', 'probe.sh'] }));
  await writeFile(join(imagesFolder, 'probe', 'probe.sh'), PROBE_SCRIPT);
  return {
    gpuTypeId: 'NVIDIA L4',
    areGpusSimulated: true,
    keepsVcpus: false,
    probeImage: 'local/probe',
    missingImage: 'local/nothing:latest',
    open: () => open(join(root, 'workers'), imagesFolder),
    close: async () => undefined,
  };
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
