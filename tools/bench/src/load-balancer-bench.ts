import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { StartedStack } from '@berth/dev-stack';
import { newProgress, print } from './figures.js';
import type { LoadResult } from './load.js';
import { Table, type Round } from './load-balancer/table.js';
import { echoThrough } from './load-balancer/socket-load.js';
import { BARE, openWays, type Way } from './load-balancer/ways.js';
import { sendThrough, type WebLoad } from './load-balancer/web-load.js';
import { processorTimes } from './peers/processor-time.js';

const ROUNDS = 5;
const IMAGES = join(resolve(import.meta.dirname, '..'), 'workers');
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off', '--routers', '2'];
const SMALL = Buffer.alloc(1_024, 'ahoy');
const LARGE = Buffer.alloc(1_048_576, 'ahoy');

interface Case {
  readonly what: string;
  /**
   * Absent: every way. HTTP/2 of Node spoils what its client of HTTP/1.1 sends to it (ADR 0067), so bodies go past the bare
   * tunnel; and that has no way for WebSockets.
   */
  readonly without?: string;
  readonly measure: (way: Way) => Promise<LoadResult>;
}

const web = (load: WebLoad) => (way: Way) => sendThrough(way, load);
const getOf = (bytes: number) => ({ method: 'GET', path: `/bytes/${bytes}` }) as const;
const postOf = (body: Buffer) => ({ method: 'POST', path: '/take', body }) as const;

const CASES: readonly Case[] = [
  { what: 'answers of 1 kB, one at a time', measure: web({ ...getOf(1_024), concurrency: 1, requests: 300 }) },
  { what: 'answers of 1 kB, 32 at a time', measure: web({ ...getOf(1_024), concurrency: 32, requests: 2_400 }) },
  {
    what: 'bodies of 1 kB, 32 at a time',
    without: BARE,
    measure: web({ ...postOf(SMALL), concurrency: 32, requests: 2_400 }),
  },
  { what: 'answers of 1 MB, 8 at a time', measure: web({ ...getOf(1_048_576), concurrency: 8, requests: 120 }) },
  {
    what: 'bodies of 1 MB, 8 at a time',
    without: BARE,
    measure: web({ ...postOf(LARGE), concurrency: 8, requests: 120 }),
  },
  {
    what: 'messages of 1 kB and back, 16 WebSockets',
    without: BARE,
    measure: (way) => echoThrough(way, { sockets: 16, messages: 150, message: SMALL }),
  },
];

/**
 * What lies between a caller and a web server that is a worker: Berth with one router and with two, beside no way at all,
 * nginx, and the least of Node that has the shape of Berth. All to the same worker, in turn.
 */
export async function benchLoadBalancer(): Promise<void> {
  print('  load-balancer: a stack with two routers is started …');
  const stack = await StartedStack.start(FLAGS);
  try {
    const ways = await openWays(stack);
    try {
      print(`${availableParallelism()} cores, ${ROUNDS} rounds`);
      for (const each of CASES) {
        await measure(
          each,
          ways.all.filter(({ name }) => name !== each.without),
        );
      }
    } finally {
      await ways.stop();
    }
  } finally {
    await stack.stop();
    await stack.remove();
  }
}

/** Way by way in turn, so that a noisy second hits all. */
async function measure({ measure: measureWay, what }: Case, ways: readonly Way[]): Promise<void> {
  const table = new Table(ways);
  const progress = newProgress();
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const way of ways) {
      const result = await timed(way, measureWay);
      progress(`${what}, ${way.name}: round ${round} of ${ROUNDS}`);
      // The first one warms up.
      if (round > 0) table.note(way, result);
    }
  }
  print(`\n${what}`);
  for (const line of table.lines()) print(line);
}

async function timed(way: Way, measureWay: Case['measure']): Promise<Round> {
  const before = await processorTimes(way.processes);
  const result = await measureWay(way);
  const after = await processorTimes(way.processes);
  const calls = result.latenciesMs.length;
  const processorMs = [...after].map(([name, ms]) => [name, (ms - (before.get(name) ?? 0)) / calls] as const);
  return { ...result, processorMs: new Map(processorMs) };
}
