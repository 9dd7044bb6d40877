import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { StartedStack } from '@berth/dev-stack';
import { benchAttacks } from './attacks-bench.js';
import { benchBodies } from './bodies-bench.js';
import { benchEndpoints } from './endpoints-bench.js';
import { print } from './figures.js';
import { benchFleet } from './fleet-bench.js';
import { benchJobs } from './job-bench.js';
import { benchKills } from './kills-bench.js';
import { benchLoadBalancer } from './load-balancer-bench.js';
import { benchLog } from './log-bench.js';
import { benchManagement } from './management-bench.js';
import { benchMemory } from './memory-bench.js';
import { benchPeers, benchRouters } from './peers-bench.js';
import { benchRates } from './rates-bench.js';
import { benchScale } from './scale-bench.js';
import { benchSoak } from './soak-bench.js';
import { benchColdStart, benchFlashboot } from './starts-bench.js';
import { benchTraces } from './traces-bench.js';

const IMAGES = join(resolve(import.meta.dirname, '../../..'), 'examples/workers');
// Measured is what the system can do, not what a tenant may do.
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off'];

let started: StartedStack | undefined;

/** On a stack that the parts share, started for the first of them. */
const onStack = (bench: (stack: StartedStack) => Promise<void>) => async (): Promise<void> => {
  if (started === undefined) print('starting a stack …');
  started ??= await StartedStack.start(FLAGS);
  await bench(started);
};

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  jobs: onStack(benchJobs),
  log: benchLog,
  fleet: benchFleet,
  management: onStack(benchManagement),
  peers: benchPeers,
  routers: benchRouters,
  rates: onStack(benchRates),
  bodies: benchBodies,
  memory: benchMemory,
  'load-balancer': benchLoadBalancer,
  scale: benchScale,
  endpoints: benchEndpoints,
  soak: benchSoak,
  attacks: benchAttacks,
  kills: benchKills,
  traces: benchTraces,
  flashboot: benchFlashboot,
  'cold-start': benchColdStart,
};

/** They take many minutes, or need a machine that lets a container engine run: they are measured where they are named. */
const NAMED_ONLY: readonly string[] = [
  'memory',
  'load-balancer',
  'scale',
  'endpoints',
  'soak',
  'attacks',
  'kills',
  'traces',
  'flashboot',
  'cold-start',
];

const { positionals: asked } = parseArgs({ allowPositionals: true });
const unknown = asked.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0)
  throw new Error(`no such part: ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
const wanted = asked.length > 0 ? asked : Object.keys(PARTS).filter((name) => !NAMED_ONLY.includes(name));

try {
  for (const name of wanted) await PARTS[name]?.();
} finally {
  await started?.stop();
  await started?.remove();
}
