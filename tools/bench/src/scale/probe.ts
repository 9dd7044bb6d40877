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

export function printProbes(empty: Probe, full: Probe): void {
  for (const called of CALLED) {
    const [before, after] = [empty.latenciesMs[called], full.latenciesMs[called]];
    print(
      `${TITLES[called]}, one after the other: empty ${withMost(before)}; full ${withMost(after)}; ` +
        `ratio of p50 ${(percentile(after, 0.5) / percentile(before, 0.5)).toFixed(2)}`,
    );
  }
  for (const called of ['bare', 'run'] as const) {
    const [before, after] = [empty.acceptedPerSecond[called], full.acceptedPerSecond[called]];
    print(
      `${TITLES[called]}, ${ACCEPT.concurrency} under way: empty ${before.toFixed(0)}/s; full ${after.toFixed(0)}/s; ` +
        `ratio ${(after / before).toFixed(2)}`,
    );
  }
  for (const [order, after] of full.vitals.entries())
    print(`${after.name}: ${vital(empty.vitals[order])}; full ${vital(after)}`);
}

const withMost = (latenciesMs: readonly number[]): string =>
  `${percentiles(latenciesMs)}, most ${(latenciesMs.at(-1) ?? Number.NaN).toFixed(1)} ms`;

function vital(seen: Vital | undefined): string {
  if (seen === undefined) return 'unknown';
  const stall = seen.stallMs === null ? '' : `, longest stall ${seen.stallMs.toFixed(0)} ms`;
  return `${seen.residentMib.toFixed(0)} MiB, ${(seen.cpu * 100).toFixed(0)} % of a core${stall}`;
}
