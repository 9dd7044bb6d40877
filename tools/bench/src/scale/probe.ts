import type { StartedStack } from '@berth/dev-stack';
import { headersOf } from '../bench-endpoint.js';
import { median, percentile, percentiles, print } from '../figures.js';
import { sendMany, type LoadOptions, type LoadResult } from '../load.js';
import type { Reference } from '../reference.js';
import { watchVitals, type Vital } from './vitals.js';

const ROUNDS = 12;
const CALLS = 40;
/** Between two calls: a probe should last longer than the rounds of maintenance, and not be what keeps a router busy. */
const PAUSE_MS = 20;
const ACCEPT_ROUNDS = 3;
const ACCEPT = { concurrency: 64, requests: 2_000 } as const;
const BODY = JSON.stringify({ input: { message: 'x'.repeat(100) } });

const CALLED = ['bare', 'run', 'status', 'health'] as const;
type Called = (typeof CALLED)[number];

export interface Probe {
  /** Of single calls, in ms, ascending. */
  readonly latenciesMs: Readonly<Record<Called, readonly number[]>>;
  readonly acceptedPerSecond: Readonly<Record<'bare' | 'run', number>>;
  readonly vitals: readonly Vital[];
}

export interface ProbedJob {
  readonly endpointId: string;
  readonly jobId: string;
}

/** What single callers of a stack see for about a minute, what it accepts at most, and how its processes do meanwhile. */
export async function probe(
  stack: StartedStack,
  reference: Reference,
  { endpointId, jobId }: ProbedJob,
): Promise<Probe> {
  const ours = { origin: stack.dev.runUrl, headers: headersOf(stack.dev.apiKey), status: 200 };
  const post = { method: 'POST', body: BODY } as const;
  const calls: Readonly<Record<Called, Omit<LoadOptions, 'concurrency' | 'requests'>>> = {
    bare: { ...ours, ...post, origin: reference.address, path: '/run' },
    run: { ...ours, ...post, path: `/v2/${endpointId}/run` },
    status: { ...ours, method: 'GET', path: `/v2/${endpointId}/status/${jobId}` },
    health: { ...ours, method: 'GET', path: `/v2/${endpointId}/health` },
  };
  const single = { concurrency: 1, requests: CALLS, pauseMs: PAUSE_MS };
  const endVitals = await watchVitals(stack);
  const latencies = await inTurn(ROUNDS, CALLED, (called) => sendMany({ ...calls[called], ...single }));
  const vitals = await endVitals();
  const accepted = await inTurn(ACCEPT_ROUNDS, ['bare', 'run'], (called) => sendMany({ ...calls[called], ...ACCEPT }));
  const sorted = (called: Called): readonly number[] =>
    latencies[called].flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b);
  const rateOf = (called: 'bare' | 'run'): number => median(accepted[called].map(({ perSecond }) => perSecond));
  return {
    latenciesMs: { bare: sorted('bare'), run: sorted('run'), status: sorted('status'), health: sorted('health') },
    acceptedPerSecond: { bare: rateOf('bare'), run: rateOf('run') },
    vitals,
  };
}

/** Alternating, so that a noisy second hits all of them. */
async function inTurn<Name extends string>(
  rounds: number,
  names: readonly Name[],
  measure: (name: Name) => Promise<LoadResult>,
): Promise<Readonly<Record<Name, readonly LoadResult[]>>> {
  const results = Object.fromEntries(names.map((name) => [name, [] as LoadResult[]])) as Record<Name, LoadResult[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) results[name].push(await measure(name));
  }
  return results;
}

const TITLES: Readonly<Record<Called, string>> = {
  bare: 'bare POST with one synced publish',
  run: '/run',
  status: '/status of a job IN_QUEUE',
  health: '/health',
};

/** The bare handler tells how much of a difference is the machine's: minutes lie between the two probes. */
export function printProbes(empty: Probe, full: Probe): void {
  const p50Of = (called: Called) => (seen: Probe) => percentile(seen.latenciesMs[called], 0.5);
  const rateOf = (called: 'bare' | 'run') => (seen: Probe) => seen.acceptedPerSecond[called];
  const ratio = (figureOf: (seen: Probe) => number): number => figureOf(full) / figureOf(empty);
  for (const called of CALLED) {
    const against = ratio(p50Of(called));
    print(
      `${TITLES[called]}, one after the other: empty ${withMost(empty, called)}; full ${withMost(full, called)}; ` +
        `ratio of p50 ${against.toFixed(2)}, divided by the bare handler's ${(against / ratio(p50Of('bare'))).toFixed(2)}`,
    );
  }
  for (const called of ['bare', 'run'] as const) {
    const against = ratio(rateOf(called));
    print(
      `${TITLES[called]}, ${ACCEPT.concurrency} under way: empty ${rateOf(called)(empty).toFixed(0)}/s; ` +
        `full ${rateOf(called)(full).toFixed(0)}/s; ratio ${against.toFixed(2)}, ` +
        `divided by the bare handler's ${(against / ratio(rateOf('bare'))).toFixed(2)}`,
    );
  }
  for (const [order, after] of full.vitals.entries()) {
    print(`${after.name}: empty ${vital(empty.vitals[order])}; full ${vital(after)}`);
  }
}

const withMost = ({ latenciesMs }: Probe, called: Called): string =>
  `${percentiles(latenciesMs[called])}, most ${(latenciesMs[called].at(-1) ?? Number.NaN).toFixed(1)} ms`;

function vital(seen: Vital | undefined): string {
  if (seen === undefined) return 'unknown';
  const stall = seen.stallMs === null ? '' : `, longest stall ${seen.stallMs.toFixed(0)} ms`;
  return `${seen.residentMib.toFixed(0)} MiB, ${(seen.cpu * 100).toFixed(0)} % of a core${stall}`;
}
