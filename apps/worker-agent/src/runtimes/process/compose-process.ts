import { join, resolve } from 'node:path';
import type { ConfigReader, Environment } from '@berth/lifecycle';
import type { OpenProcess } from '@berth/telemetry';
import type { OpenRuntime, RuntimeDriver, RuntimeParts } from '../open-runtime.js';
import { machineIn } from '../machine/machine-in.js';
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
const OWN_PREFIX = 'BERTH_';
/** What of the agent's environment a worker may see. */
const WORKER_VARIABLES = ['PATH', 'LANG'];

function readConfig(read: ConfigReader, environment: Environment): ProcessConfig {
  const variables = Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const images = 'Folder of the images: `local/NAME` is the folder `NAME` in it.';
  return {
    kind: 'process',
    imagesFolder: resolve(read.string('BERTH_IMAGES', images, join('examples', 'workers'))),
    workerEnvironment: Object.fromEntries(variables.filter(([name]) => WORKER_VARIABLES.includes(name))),
    setupEnvironment: Object.fromEntries(variables.filter(([name]) => !name.startsWith(OWN_PREFIX))),
  };
}

async function open(
  { clock, logger, random }: OpenProcess,
  { imagesFolder, setupEnvironment, workerEnvironment: environment }: ProcessConfig,
  { bridge, home, ...reported }: RuntimeParts,
): Promise<OpenRuntime> {
  const machine = machineIn(home, reported, { clock, logger });
  const workersFolder = join(home, 'workers');
  const runtime = await ProcessRuntime.open({
    ...{ workersFolder, imagesFolder, environment, setupEnvironment },
    ...{ machine, clock, random },
  });
  return { runtime, listenHost: bridge.listenHost ?? LOOPBACK, confine: async () => undefined };
}

/** Processes are on the host, as the bridge is. */
export const PROCESS: RuntimeDriver<ProcessConfig> = {
  kind: 'process',
  bridge: { host: LOOPBACK, listenHost: LOOPBACK },
  readConfig,
  open,
};
