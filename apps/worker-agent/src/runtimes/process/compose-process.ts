import { join } from 'node:path';
import type { OpenProcess } from '@berth/telemetry';
import type { OpenRuntime, RuntimeParts } from '../open-runtime.js';
import { Machine } from '../machine/machine.js';
import { ProcessRuntime } from './process-runtime.js';

export interface ProcessConfig {
  readonly kind: 'process';
  readonly imagesFolder: string;
  /** What every worker gets of this agent's environment. */
  readonly workerEnvironment: Readonly<Record<string, string>>;
  /** What the operator's setup lines get: all of it, for proxies and package indexes, but nothing of ours. */
  readonly setupEnvironment: Readonly<Record<string, string>>;
}

const LOOPBACK = '127.0.0.1';

export async function openProcesses(
  { clock, logger, random }: OpenProcess,
  { imagesFolder, setupEnvironment, workerEnvironment: environment }: ProcessConfig,
  { bridge, home, simulatedGpus, vcpus }: RuntimeParts,
): Promise<OpenRuntime> {
  const machine = new Machine({ simulatedGpus, vcpus, diskFolder: home, clock, logger });
  const workersFolder = join(home, 'workers');
  const runtime = await ProcessRuntime.open({
    ...{ workersFolder, imagesFolder, environment, setupEnvironment },
    ...{ machine, clock, random },
  });
  return { runtime, listenHost: bridge.listenHost ?? LOOPBACK, confine: async () => undefined };
}
