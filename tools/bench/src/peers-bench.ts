import { systemClock } from '@berth/lifecycle';
import { TenantClient, type StartedStack } from '@berth/dev-stack';
import { Client } from 'pg';
import { request } from 'undici';
import { createEndpoint, headersOf } from './bench-endpoint.js';
import { median, percentile, print } from './figures.js';
import { sendMany } from './load.js';
import { hasRedis, startRedis, type RedisSync } from './peers/redis-server.js';
import { startReference, type Reference } from './reference.js';

const ROUNDS = 3;
const JOBS = 2_000;
const SENDERS = 64;
/** Jobs that run at one time, at each side. */
const RUNNING = 64;
const WORKERS = 2;
const ENDED_WITHIN_MS = 60_000;
const LOOK_MS = 20;
const BODY = JSON.stringify({ input: { message: 'x'.repeat(400) } });
const DATABASE = 'bench_graphile';

/** One of those compared: takes `POST /run` at `path` and counts what has ended. */
interface Contender {
  readonly name: string;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  completed(): Promise<number>;
  stop(): Promise<void>;
}

interface Round {
  readonly perSecond: number;
  /** Of the accepting calls, in ms, ascending. */
  readonly latenciesMs: readonly number[];
}

/** From the first submit to the last end, behind HTTP at every side: Berth, BullMQ on Redis, graphile-worker. */
export async function benchPeers(stack: StartedStack): Promise<void> {
  const contenders = [await berth(stack), ...(await bullmqs()), await graphile(stack.dev.databaseUrl)];
  const rounds = new Map(contenders.map(({ name }) => [name, [] as Round[]]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const contender of contenders) {
      const result = await drive(contender);
      // The first one warms up.
      if (round > 0) rounds.get(contender.name)?.push(result);
    }
  }
  const [ours = []] = [...rounds.values()];
  for (const [name, results] of rounds) print(lineOf(name, results, ours));
  for (const contender of contenders) await contender.stop();
}

async function drive(contender: Contender): Promise<Round> {
  const { headers, origin, path } = contender;
  const wanted = (await contender.completed()) + JOBS;
  const startedAtMs = systemClock.monotonicMs();
  const load = { method: 'POST', status: 200, concurrency: SENDERS, requests: JOBS } as const;
  const { latenciesMs } = await sendMany({ origin, path, headers, body: BODY, ...load });
  while ((await contender.completed()) < wanted) {
    if (systemClock.monotonicMs() - startedAtMs > ENDED_WITHIN_MS) throw new Error(`${origin}: not all jobs ended`);
    await systemClock.sleep(LOOK_MS);
  }
  return { perSecond: (JOBS * 1_000) / (systemClock.monotonicMs() - startedAtMs), latenciesMs };
}

function lineOf(name: string, results: readonly Round[], ours: readonly Round[]): string {
  const perSecond = median(results.map((round) => round.perSecond));
  const all = results.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b);
  const ratio = median(ours.map((round, index) => round.perSecond / (results[index]?.perSecond ?? Number.NaN)));
  const accepted = `accepted p50 ${percentile(all, 0.5).toFixed(1)} ms, p99 ${percentile(all, 0.99).toFixed(1)} ms`;
  return `submit to end, ${name}: ${perSecond.toFixed(0)}/s, ${accepted}; Berth is ${ratio.toFixed(2)} times as fast`;
}

async function berth(stack: StartedStack): Promise<Contender> {
  const { apiKey, runUrl } = stack.dev;
  const client = new TenantClient(() => stack.dev);
  const endpointId = await createEndpoint(client, 'bench-peers', {
    workers: { min: WORKERS, max: WORKERS },
    env: { ECHO_SLOTS: String(RUNNING / WORKERS) },
  });
  return {
    name: 'Berth',
    origin: runUrl,
    path: `/v2/${endpointId}/run`,
    headers: headersOf(apiKey),
    completed: async () => {
      const { body } = await client.job<{ jobs: { completed: number } }>('GET', `/${endpointId}/health`);
      return body.jobs.completed;
    },
    stop: async () => {
      await client.manage('DELETE', `/v2/serverless/${endpointId}`);
    },
  };
}

async function bullmqs(): Promise<readonly Contender[]> {
  if (await hasRedis()) return [await bullmq('everysec'), await bullmq('always')];
  print('  BullMQ is left out: there is no redis-server on PATH');
  return [];
}

async function bullmq(sync: RedisSync): Promise<Contender> {
  const redis = await startRedis(sync);
  const front = await startReference('peers/bullmq-front.js', [String(redis.port)]);
  const worker = await startReference('peers/bullmq-worker.js', [String(redis.port), String(RUNNING)]);
  return peer(`BullMQ on Redis that syncs ${sync === 'always' ? 'always' : 'every second'}`, [front, worker], () =>
    redis.stop(),
  );
}

async function graphile(databaseUrl: string): Promise<Contender> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${DATABASE}`);
  await client.end();
  const address = new URL(databaseUrl);
  address.pathname = `/${DATABASE}`;
  const front = await startReference('peers/graphile-front.js', [address.href]);
  const worker = await startReference('peers/graphile-worker.js', [address.href, String(RUNNING)]);
  return peer('graphile-worker', [front, worker], () => Promise.resolve());
}

function peer(
  name: string,
  [front, worker]: readonly [Reference, Reference],
  stopServer: () => Promise<unknown>,
): Contender {
  return {
    name,
    origin: front.address,
    path: '/run',
    headers: { 'content-type': 'application/json' },
    completed: async () => {
      const { body } = await request(`${front.address}/completed`);
      return ((await body.json()) as { completed: number }).completed;
    },
    stop: async () => {
      await worker.stop();
      await front.stop();
      await stopServer();
    },
  };
}
