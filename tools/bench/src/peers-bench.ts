import { join, resolve } from 'node:path';
import { StartedStack } from '@berth/dev-stack';
import { median, newProgress, percentile, print } from './figures.js';
import { berth } from './peers/berth.js';
import { bullmq } from './peers/bullmq.js';
import type { Contender } from './peers/contender.js';
import { drive, type Round } from './peers/drive.js';
import { graphile } from './peers/graphile.js';
import { hasRedis } from './peers/redis-server.js';

const ROUNDS = 5;
const IMAGES = join(resolve(import.meta.dirname, '..'), 'workers');
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off'];
/** The peer whose jobs take the same way as ours: over HTTP, to the same workers. */
const SAME_WAY = 'over HTTP (http)';

/**
 * From the first submit to the last end, behind HTTP at every side, with 64 jobs that run at one time: Berth with one
 * endpoint and with sixteen, BullMQ on Redis and graphile-worker.
 */
export async function benchPeers(): Promise<void> {
  await onStack([], async (stack) => [
    await berth(stack, { name: 'Berth, one endpoint, workers by node:http', endpoints: 1, client: 'http' }),
    await berth(stack, { name: 'Berth, one endpoint, workers by fetch', endpoints: 1, client: 'fetch' }),
    await berth(stack, { name: 'Berth, 16 endpoints, workers by node:http', endpoints: 16, client: 'http' }),
    ...(await bullmqs()),
    await graphile(stack),
  ]);
}

/** The same of two routers that share the endpoints, beside the peer whose jobs take the same way. */
export async function benchRouters(): Promise<void> {
  await onStack(['--routers', '2'], async (stack) => [
    await berth(stack, { name: 'Berth, two routers, one endpoint', endpoints: 1, client: 'http' }),
    await berth(stack, { name: 'Berth, two routers, 16 endpoints', endpoints: 16, client: 'http' }),
    ...((await hasRedis()) ? [await bullmq({ sync: 'everysec', workers: 'http' })] : []),
  ]);
}

async function bullmqs(): Promise<readonly Contender[]> {
  if (!(await hasRedis())) {
    print('  BullMQ is left out: there is no redis-server on PATH');
    return [];
  }
  return [
    await bullmq({ sync: 'everysec', workers: 'http' }),
    await bullmq({ sync: 'everysec', workers: 'fetch' }),
    await bullmq({ sync: 'everysec', workers: 'function' }),
    await bullmq({ sync: 'always', workers: 'http' }),
  ];
}

async function onStack(
  flags: readonly string[],
  open: (stack: StartedStack) => Promise<readonly Contender[]>,
): Promise<void> {
  print('starting a stack …');
  const stack = await StartedStack.start([...FLAGS, ...flags]);
  try {
    await measure(await open(stack));
  } finally {
    await stack.stop();
    await stack.remove();
  }
}

async function measure(contenders: readonly Contender[]): Promise<void> {
  const rounds = new Map(contenders.map(({ name }) => [name, [] as Round[]]));
  const progress = newProgress();
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const contender of contenders) {
      const result = await drive(contender);
      progress(`${contender.name}: round ${round} of ${ROUNDS}`);
      // The first one warms up.
      if (round > 0) rounds.get(contender.name)?.push(result);
    }
  }
  const sameWay = [...rounds].find(([name]) => name.endsWith(SAME_WAY))?.[1] ?? [];
  for (const [name, results] of rounds) print(lineOf(name, results, sameWay));
  for (const contender of contenders) await contender.stop();
}

function lineOf(name: string, results: readonly Round[], sameWay: readonly Round[]): string {
  const rates = results.map(({ perSecond }) => perSecond);
  const ratio = median(rates.map((rate, round) => rate / (sameWay[round]?.perSecond ?? Number.NaN)));
  const all = results.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b);
  const times = [...(results[0]?.processorMs.keys() ?? [])].map(
    (process) => [process, median(results.map(({ processorMs }) => processorMs.get(process) ?? 0))] as const,
  );
  const total = times.reduce((sum, [, ms]) => sum + ms, 0);
  return (
    `submit to end, ${name}: ${median(rates).toFixed(0)}/s (${Math.min(...rates).toFixed(0)} to ` +
    `${Math.max(...rates).toFixed(0)}), ${ratio.toFixed(2)} times BullMQ over HTTP; accepted p50 ` +
    `${percentile(all, 0.5).toFixed(1)} ms, p99 ${percentile(all, 0.99).toFixed(1)} ms; ${total.toFixed(2)} ms of ` +
    `processor a job: ${times.map(([process, ms]) => `${process} ${ms.toFixed(2)}`).join(', ')}`
  );
}
