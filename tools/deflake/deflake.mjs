/**
 * Repeats tests in a shuffled order until one fails: `npm run deflake -- [--times N] path…`. A test that needs luck is a bug;
 * the seed that Jest prints repeats the order that showed it.
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const TIMES = 20;
const { values, positionals } = parseArgs({ options: { times: { type: 'string' } }, allowPositionals: true });
const times = Number(values.times ?? TIMES);
if (!Number.isInteger(times) || times < 1)
  throw new Error(`--times takes a positive whole number, not ${values.times}.`);

const args = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  resolve(import.meta.dirname, '../../node_modules/jest/bin/jest.js'),
  '--randomize',
  '--showSeed',
  '--silent',
  ...positionals,
];
for (let time = 1; time <= times; time += 1) {
  console.log(`deflake: ${time} of ${times}`);
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) {
    process.exitCode = 1;
    break;
  }
}
