import { join, resolve } from 'node:path';
import { StartedStack } from '@berth/dev-stack';
import { print } from './figures.js';
import { benchJobs } from './job-bench.js';
import { benchManagement } from './management-bench.js';
import { benchPeers } from './peers-bench.js';
import { benchRates } from './rates-bench.js';

const IMAGES = join(resolve(import.meta.dirname, '../../..'), 'examples/workers');
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off'];
const PARTS = { jobs: benchJobs, management: benchManagement, peers: benchPeers, rates: benchRates } as const;

/** `npm run bench -- management` measures that part alone. */
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0)
  throw new Error(`no such part: ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);

print('starting a stack …');
// Measured is what the system can do, not what a tenant may do.
const stack = await StartedStack.start([...FLAGS, '--rate-limits', 'off']);
try {
  for (const [name, bench] of Object.entries(PARTS)) {
    if (wanted.length === 0 || wanted.includes(name)) await bench(stack);
  }
} finally {
  await stack.stop();
  await stack.remove();
}
