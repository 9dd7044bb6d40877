/**
 * Runs the simulator of endpoints' logs by hand, in several processes:
 * `npm run simulate -- [--seeds N] [--first SEED] [--processes N] [--minutes N]`; with minutes it ends after so many,
 * whatever has run by then. Prints each seed that breaks a promise, and figures of all that ran.
 * `npm run simulate -- --story SEED` tells one seed's story.
 * `npm run simulate -- --fleet` walks a fleet of 500 hosts through a day of bursts on the real plan, and prints its report;
 * `--fleet --golden` writes the report of the small fleet, with which a test compares what the code says.
 */
import { fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { FLEET_SCENARIOS, reportFleet } from '../../libs/testing/dist/fleet-simulator/fleet-report.js';
import { simulateLog } from '../../libs/testing/dist/log-simulator/simulate-log.js';

/** Seeds between two words of a process to the one that started it. */
const REPORT_EVERY = 250;
const PRINTED_EVERY_MS = 5_000;
const BROKEN_MAX = 20;
const COUNTED = ['facts', 'batches', 'told', 'carries', 'terms', 'happened'];

const emptySum = () => ({ seeds: 0, broken: [], counts: {}, faults: {} });

const add = (to, from) => {
  for (const [name, count] of Object.entries(from)) to[name] = (to[name] ?? 0) + count;
};

/** One process's part: every `step`-th seed, as long as there is time. */
async function runPart({ count, first, minutes, step }) {
  const endsAt = performance.now() + minutes * 60_000;
  let sum = emptySum();
  for (let at = 0; at < count; at += step) {
    const run = await simulateLog({ seed: first + at });
    sum.seeds += 1;
    if (run.broken.length > 0) sum.broken.push({ seed: run.seed, broken: run.broken[0] });
    add(sum.counts, Object.fromEntries(COUNTED.map((name) => [name, run[name]])));
    add(sum.faults, run.faults);
    const isLast = at + step >= count || performance.now() >= endsAt;
    if (sum.seeds < REPORT_EVERY && !isLast) continue;
    await new Promise((sent) => process.send(sum, sent));
    sum = emptySum();
    if (isLast) break;
  }
  process.disconnect();
}

function print({ broken, faults, seeds }, startedAt) {
  const seconds = (performance.now() - startedAt) / 1_000;
  const perSeed = (count) => Number((count / seeds).toFixed(2));
  const faultsInAll = Object.values(faults).reduce((total, count) => total + count, 0);
  console.log(
    `${seeds} seeds, ${broken.length} broken, ${(seeds / seconds).toFixed(1)} seeds/s, ${perSeed(faultsInAll)} faults a seed`,
  );
  return { perSeed };
}

async function runAll({ count, first, minutes, processes }) {
  const sum = emptySum();
  const startedAt = performance.now();
  let printedAt = startedAt;
  const part = (at) =>
    new Promise((resolve, reject) => {
      const child = fork(fileURLToPath(import.meta.url), [
        ...['--part', '--seeds', count - at, '--first', first + at],
        ...['--step', processes, '--minutes', minutes],
      ]);
      child.on('message', (more) => {
        sum.seeds += more.seeds;
        add(sum.counts, more.counts);
        add(sum.faults, more.faults);
        for (const each of more.broken)
          if (sum.broken.push(each) <= BROKEN_MAX) console.log(`seed ${each.seed}: ${each.broken}`);
        if (performance.now() - printedAt < PRINTED_EVERY_MS) return;
        printedAt = performance.now();
        print(sum, startedAt);
      });
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a process ended with ${code}`))));
    });
  await Promise.all(Array.from({ length: processes }, (_, at) => part(at)));
  const { perSeed } = print(sum, startedAt);
  const each = (counts) => Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, perSeed(count)]));
  console.log({ perSeed: each(sum.counts), faultsPerSeed: each(sum.faults) });
  if (sum.broken.length > 0) process.exitCode = 1;
}

const GOLDEN = new URL('../../libs/testing/test/fleet-report.golden.json', import.meta.url);

async function runFleet(isGolden) {
  const report = JSON.stringify(reportFleet(FLEET_SCENARIOS[isGolden ? 'hours' : 'day']), null, 2);
  if (isGolden) await writeFile(GOLDEN, `${report}\n`);
  console.log(report);
}

const text = (value) => ({ type: 'string', ...(value === undefined ? {} : { default: String(value) }) });
const { values } = parseArgs({
  options: {
    seeds: text(10_000),
    first: text(1),
    processes: text(availableParallelism()),
    minutes: text(Infinity),
    story: text(),
    fleet: { type: 'boolean', default: false },
    golden: { type: 'boolean', default: false },
    // A process that another one of this file started, which takes every so many-th seed.
    part: { type: 'boolean', default: false },
    step: text(1),
  },
});

/** @throws Error which names the option */
function numberOf(name) {
  const number = Number(values[name]);
  if (number > 0) return number;
  throw new Error(`--${name} must be a number above 0, not ${values[name]}`);
}

const count = numberOf('seeds');
const first = numberOf('first');
const minutes = numberOf('minutes');
if (values.fleet) await runFleet(values.golden);
else if (values.story !== undefined) await simulateLog({ seed: numberOf('story'), tell: (line) => console.log(line) });
else if (values.part) await runPart({ count, first, step: numberOf('step'), minutes });
else await runAll({ count, first, processes: numberOf('processes'), minutes });
