import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { useTempFolders } from '@berth/testing';
import { PROBE_SCRIPT, containerRuntimeConformance } from '../container-runtime.conformance.js';
import { ProcessRuntime } from './process-runtime.js';

const newFolder = useTempFolders();

containerRuntimeConformance('process', async () => {
  const root = await newFolder();
  const imagesFolder = join(root, 'images');
  await mkdir(join(imagesFolder, 'probe'), { recursive: true });
  await writeFile(join(imagesFolder, 'probe', 'worker.json'), JSON.stringify({ command: ['/bin/sh', 'probe.sh'] }));
  await writeFile(join(imagesFolder, 'probe', 'probe.sh'), PROBE_SCRIPT);
  return {
    probeImage: 'local/probe',
    missingImage: 'local/nothing:latest',
    open: () =>
      ProcessRuntime.open({
        workersFolder: join(root, 'workers'),
        imagesFolder,
        clock: systemClock,
        random: systemRandom,
        environment: { PATH: '/usr/bin:/bin' },
        setupEnvironment: { PATH: '/usr/bin:/bin' },
      }),
    close: async () => undefined,
  };
});
