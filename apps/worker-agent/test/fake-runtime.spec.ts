import { systemClock } from '@berth/lifecycle';
import { containerRuntimeConformance } from '../src/runtimes/container-runtime.conformance.js';
import { TWO_GPUS } from './test-machine.js';
import { FakeMachine, FakeRuntime } from './fake-runtime.js';

containerRuntimeConformance('fake', async () => {
  let folders = 0;
  const machine = new FakeMachine(['local/probe'], TWO_GPUS);
  return {
    gpuTypeId: 'NVIDIA L4',
    areGpusSimulated: true,
    keepsVcpus: false,
    probeImage: 'local/probe',
    missingImage: 'local/nothing',
    newFolder: async () => `/volumes/${String((folders += 1))}`,
    open: async () => new FakeRuntime(machine, systemClock),
    close: async () => undefined,
  };
});
