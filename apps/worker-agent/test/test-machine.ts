import type { HostGpu } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { silentLogger } from '@berth/telemetry';
import { Machine } from '../src/runtimes/machine/machine.js';

const L4 = { typeId: 'NVIDIA L4', memoryBytes: 24 * 1024 ** 3 };
export const TWO_GPUS: readonly HostGpu[] = [
  { index: 0, ...L4 },
  { index: 1, ...L4 },
];

/** This machine, with simulated GPUs. */
export const testMachine = (gpus: readonly HostGpu[] = [], cudaVersion: string | null = null): Machine =>
  new Machine({
    ...{ clock: systemClock, logger: silentLogger, diskFolder: '/', vcpus: null },
    simulatedGpus: { gpus, cudaVersion },
  });
