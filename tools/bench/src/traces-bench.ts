import { join, resolve } from 'node:path';
import { StartedStack } from '@berth/dev-stack';
import { request } from 'undici';
import { median, newProgress, percentile, print } from './figures.js';
import { berth } from './peers/berth.js';
import type { Contender } from './peers/contender.js';
import { drive, type Round } from './peers/drive.js';
import { AGENT } from './peers/processor-time.js';
import { startReference, type Reference } from './reference.js';

const ROUNDS = 10;
const IMAGES = join(resolve(import.meta.dirname, '..'), 'workers');
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off'];
/** The processes of a job's path that record. */
const RECORDING = ['job-router', AGENT] as const;

/** Of 1,000 traces so many are recorded; null: it is off. */
const SIDES = [
  ['nothing recorded', null],
  ['nothing recorded, once more', null],
  ['1 % recorded', 10],
  ['all recorded', 1_000],
] as const;

interface Side extends Contender {
  readonly stack: StartedStack;
}

/**
 * Jobs from submit to end where nothing is recorded, where one trace of a hundred is, and where all are: a stack of each,
 * in turn. The first is there twice, which shows how far two equal sides are apart.
 */
export async function benchTraces(): Promise<void> {
  const sink = await startReference(join('traces', 'collector-reference.js'));
  const sides: Side[] = [];
  try {
    for (const [name, permille] of SIDES) sides.push(await open(name, sink, permille));
    await measure(sides);
  } finally {
    for (const { stack } of sides) {
      await stack.stop();
      await stack.remove();
    }
    await sink.stop();
  }
}

async function open(name: string, sink: Reference, permille: number | null): Promise<Side> {
  print(`starting a stack: ${name} …`);
  const more = permille === null ? [] : ['--otlp-endpoint', sink.address, '--traced-permille', `${permille}`];
  const stack = await StartedStack.start([...FLAGS, ...more]);
  return { ...(await berth(stack, { name, endpoints: 1, client: 'http' })), stack };
}

async function measure(sides: readonly Side[]): Promise<void> {
  const rounds = new Map(sides.map(({ name }) => [name, [] as Round[]]));
  const progress = newProgress();
  for (let round = 0; round <= ROUNDS; round += 1) {
    // Another one begins each round, since none shall always come behind the same one.
    for (let turn = 0; turn < sides.length; turn += 1) {
      const side = sides[(round + turn) % sides.length];
      if (side === undefined) continue;
      const result = await drive(side);
      progress(`${side.name}: round ${round} of ${ROUNDS}`);
      // The first one warms up.
      if (round > 0) rounds.get(side.name)?.push(result);
    }
  }
  const [off] = rounds.values();
  for (const side of sides) print(lineOf(side.name, rounds.get(side.name) ?? [], off ?? []) + (await spansOf(side)));
}

function lineOf(name: string, results: readonly Round[], off: readonly Round[]): string {
  const rates = results.map(({ perSecond }) => perSecond);
  return (
    `submit to end, ${name}: ${median(rates).toFixed(0)}/s (${Math.min(...rates).toFixed(0)} to ` +
    `${Math.max(...rates).toFixed(0)}); against nothing recorded: rate ${ratios(results, off, rateOf)}, accepted p50 ` +
    `${ratios(results, off, p50Of)}, processor of router and agent ${ratios(results, off, processorOf)}, of which ` +
    `${median(results.map(processorOf)).toFixed(3)} ms a job`
  );
}

const rateOf = ({ perSecond }: Round): number => perSecond;
const p50Of = ({ latenciesMs }: Round): number => percentile(latenciesMs, 0.5);
const processorOf = ({ processorMs }: Round): number =>
  RECORDING.reduce((sum, name) => sum + (processorMs.get(name) ?? 0), 0);

/** Round by round: the median, and the two quarters around it. */
function ratios(results: readonly Round[], off: readonly Round[], figureOf: (round: Round) => number): string {
  const all = results.map((each, round) => figureOf(each) / figureOf(off[round] ?? each)).toSorted((a, b) => a - b);
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => percentile(all, share).toFixed(3));
  return `${middle} (${low} to ${high})`;
}

/** What became of the steps, by the processes' own count. */
async function spansOf({ stack }: Side): Promise<string> {
  const counts = new Map<string, number>();
  for (const url of Object.values(stack.dev.operations)) {
    const text = await (await request(`${url}/metrics`)).body.text();
    for (const [, outcome = '', count] of text.matchAll(/^berth_trace_spans_total\{outcome="(\w+)"\} (\d+)/gm))
      counts.set(outcome, (counts.get(outcome) ?? 0) + Number(count));
  }
  return counts.size === 0 ? '' : `; steps: ${[...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`;
}
