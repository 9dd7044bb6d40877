import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { TenantClient, StartedStack } from '@berth/dev-stack';
import { systemClock } from '@berth/lifecycle';
import { pollUntil } from '@berth/servers';
import { request } from 'undici';
import { createEndpoint } from './bench-endpoint.js';
import { percentile, print } from './figures.js';
import { KilledCaller, type CallRecord } from './kills/killed-caller.js';

const ROUNDS = 3;
const KILLS = 6;
const BETWEEN_KILLS_MS = 10_000;
const CALLERS = 8;
/** So that each router owns some of their shards. */
const ENDPOINTS = 4;
/** What a caller does between two calls; without it nearly all calls would lie where nothing has been killed for long. */
const PAUSE_MS = 50;
const ROUTERS = ['job-router', 'job-router-2'] as const;
const BACK_WITHIN_MS = 60_000;
const BACK_FOR_MS = 5_000;
const WARM_UP_MS = 5_000;
const IMAGES = join(resolve(import.meta.dirname, '..'), 'workers');
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off', '--routers', '2'];

/**
 * Eight callers of `/runsync` while one of two routers is killed every ten seconds, the one after the other, and started
 * again; beside the same callers while nothing is killed.
 */
export async function benchKills(): Promise<void> {
  print('kills: starting a stack with two routers …');
  const stack = await StartedStack.start(FLAGS);
  try {
    await measure(stack);
  } finally {
    await stack.stop();
    await stack.remove();
  }
}

async function measure(stack: StartedStack): Promise<void> {
  const client = new TenantClient(() => stack.dev);
  const endpoints: string[] = [];
  for (let at = 0; at < ENDPOINTS; at += 1) {
    const more = { image: 'local/echo', workers: { min: 1, max: 1 }, env: { ECHO_SLOTS: '4' } };
    endpoints.push(await createEndpoint(client, `bench-kills-${at}`, more));
  }
  const callers = Array.from({ length: CALLERS }, (_, at) => {
    return new KilledCaller(stack, {
      endpointId: endpoints[at % ENDPOINTS] ?? '',
      firstRouter: at % 2,
      pauseMs: PAUSE_MS,
    });
  });
  await callFor(callers, () => systemClock.sleep(WARM_UP_MS));
  print('| round | calls | p50 ms | p99 ms | slowest ms | repeated calls | load | errors |');
  print('| --- | --- | --- | --- | --- | --- | --- | --- |');
  print(rowOf('nothing is killed', await callFor(callers, () => systemClock.sleep(KILLS * BETWEEN_KILLS_MS))));
  for (let round = 1; round <= ROUNDS; round += 1) {
    print(rowOf(`${round}, ${KILLS} kills`, await callFor(callers, () => killInTurn(stack))));
  }
}

/** A router is killed no sooner than the one before it is back for a while: on a busy machine a start takes long. */
async function killInTurn(stack: StartedStack): Promise<void> {
  for (let kills = 0; kills < KILLS; kills += 1) {
    const [name, other] = kills % 2 === 0 ? ROUTERS : ROUTERS.toReversed();
    await pollUntil(() => isReady(stack, other), { what: `${other} to be back`, deadlineMs: BACK_WITHIN_MS });
    await systemClock.sleep(BACK_FOR_MS);
    process.kill(stack.pidOf(name), 'SIGKILL');
    await systemClock.sleep(BETWEEN_KILLS_MS - BACK_FOR_MS);
  }
}

async function isReady(stack: StartedStack, name: (typeof ROUTERS)[number]): Promise<true | undefined> {
  try {
    const { body, statusCode } = await request(`${stack.dev.operations[name] ?? ''}/readyz`);
    await body.dump();
    return statusCode === 200 ? true : undefined;
  } catch {
    // It does not listen yet, which is what is being waited for.
    return undefined;
  }
}

/** Calls that are under way when `meanwhile` is over are waited for: they count. */
async function callFor(
  callers: readonly KilledCaller[],
  meanwhile: () => Promise<void>,
): Promise<readonly CallRecord[]> {
  const over = new AbortController();
  const calling = Promise.all(callers.map((caller) => caller.callUntil(over.signal)));
  await meanwhile();
  over.abort();
  return (await calling).flat();
}

function rowOf(name: string, calls: readonly CallRecord[]): string {
  const latencies = calls.map(({ latencyMs }) => latencyMs).toSorted((a, b) => a - b);
  const [p50, p99, slowest] = [0.5, 0.99, 1].map((share) => percentile(latencies, share).toFixed(0));
  const repeated = calls.filter(({ repeats }) => repeats > 0).length;
  const errors = calls.flatMap(({ error }) => (error === null ? [] : [error]));
  const told = [errors.length, ...new Set(errors)].join('; ');
  const [load = 0] = loadavg();
  return `| ${[name, calls.length, p50, p99, slowest, repeated, load.toFixed(1), told].join(' | ')} |`;
}
