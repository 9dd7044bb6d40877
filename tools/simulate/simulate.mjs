/**
 * Runs the simulator of endpoints' logs by hand, in several processes: `npm run simulate -- 100000 [first seed]
 * [processes] [minutes]`; with minutes it ends after so many, whatever has run by then.
 * Prints each seed that breaks a promise, and figures of all that ran. `npm run simulate -- story 4711` tells one seed's story.
 */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

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
      const child = fork(fileURLToPath(import.meta.url), ['part', count - at, first + at, processes, minutes]);
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

const [what = '10000', ...more] = process.argv.slice(2);
const numbers = more.map(Number);
if (what === 'part') await runPart({ count: numbers[0], first: numbers[1], step: numbers[2], minutes: numbers[3] });
else if (what === 'story') await simulateLog({ seed: numbers[0], tell: (line) => console.log(line) });
else {
  const [first = 1, processes = availableParallelism(), minutes = Infinity] = numbers;
  await runAll({ count: Number(what), first, processes, minutes });
}
