import { systemClock } from '@berth/lifecycle';
import { Broker, LOG_SHARDS, NatsShardClaims, logShard } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { ClusterFaults } from '@berth/testing/servers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { JobLoad } from './bench/job-load.js';
import { expectOutage } from './bench/outage-report.js';
import { RouterBench, type Scene, type TestRouter } from './bench/router-bench.js';
import { completed, type ScriptedAgent } from './bench/scripted-agent.js';

const bench = new RouterBench({ brokers: 3 });
let faults: ClusterFaults;
let claims: NatsShardClaims;
let second: TestRouter;

const SETUP_MS = 240_000;
const TEST_MS = 240_000;
const LONG = { deadlineMs: 90_000, intervalMs: 100 };
const ENDPOINTS = 3;
const JOBS_BETWEEN_FAULTS = 4;
const RENEW_EVERY_MS = 2_000;
const CLAIMS = 'KV_shards';

beforeAll(async () => {
  faults = new ClusterFaults(bench.cluster);
  await faults.open();
  claims = new NatsShardClaims(await Broker.over({ connection: await bench.connect() }));
  second = await bench.startRouter();
}, SETUP_MS);
afterAll(() => faults.close());

/** Of each shard the process that owns it and its term: no two owners have the same, one after the other neither. */
const readClaims = async (): Promise<readonly (readonly [number, string, number])[]> =>
  [...(await claims.survey()).claims].map(
    ([
      shard,
      {
        value: { owner, term },
      },
    ]) => [shard, owner?.incarnation ?? 'nobody', term],
  );

const untilShared = (): ReturnType<typeof readClaims> =>
  eventually(async () => {
    const all = await readClaims();
    const shares = [...Map.groupBy(all, ([, owner]) => owner).values()].map(({ length }) => length);
    expect(shares).toEqual([LOG_SHARDS / 2, LOG_SHARDS / 2]);
    return all;
  }, LONG);

type Job = Awaited<ReturnType<ScriptedAgent['takeOne']>>;

/** A worker goes on with the job, whatever its host hears, until it is told to end it. */
async function workUntil(signal: AbortSignal, agent: ScriptedAgent, job: Job): Promise<void> {
  while (!signal.aborted) {
    expect(await agent.renew(job).catch(() => 'unanswered')).not.toEqual(['lost']);
    await systemClock.sleep(RENEW_EVERY_MS, signal);
  }
  expect(await agent.complete(job, 'done')).toEqual({ outcome: 'recorded' });
}

/** Callers at both routers, whose jobs end at once, beside one that is worked on until the signal. */
async function beginWork({ agent, client, endpointId, tenant }: Scene, signal: AbortSignal) {
  const longId = await client.run({ long: true });
  const working = workUntil(signal, agent, await agent.takeOne());
  agent.serve(async ({ jobId }) => completed(jobId));
  const load = new JobLoad([client, bench.client(endpointId, tenant, second)]);
  return { client, load, longId, working };
}

test(
  'a change of the brokers’ leader moves no claim, charges no attempt, and callers hear of it at most 503',
  async () => {
    const before = await untilShared();
    const scenes = await Promise.all(Array.from({ length: ENDPOINTS }, () => bench.scene()));
    const logs = [...new Set(scenes.map(({ endpointId }) => `LOG_${logShard(endpointId)}`))];
    const over = new AbortController();
    const works = await Promise.all(scenes.map((scene) => beginWork(scene, over.signal)));
    const progress = (): Promise<unknown> => Promise.all(works.map(({ load }) => load.progress(JOBS_BETWEEN_FAULTS)));

    await progress();
    for (const stream of [...logs, CLAIMS]) await faults.stepDown(stream);
    await progress();
    // No router is connected to the third server: whoever is cut off must lose its claims.
    for (const stream of [...logs.slice(1), CLAIMS]) await faults.lead(stream, 2);
    await faults.freeze(CLAIMS, async () => void (await progress()));
    for (const stream of [...logs.slice(1), CLAIMS]) await faults.lead(stream, 0);
    await faults.restart(CLAIMS, 'kill');
    await progress();
    over.abort();
    await Promise.all(works.flatMap(({ load, working }) => [load.end(), working]));

    expect(await readClaims()).toEqual(before);
    expect(works.flatMap(({ load }) => load.surprises)).toEqual([]);
    for (const answer of works.flatMap(({ load }) => load.outages)) expectOutage(answer, /./);
    for (const { client, load, longId } of works) {
      expect(new Set(load.completed).size).toBe(load.completed.length);
      const { body } = await client.status(longId);
      expect([body.status, body.retries]).toEqual(['COMPLETED', undefined]);
      const { jobs } = (await client.call('/health')).body;
      expect(jobs).toMatchObject({ completed: load.completed.length + 1, failed: 0, inQueue: 0, inProgress: 0 });
    }
  },
  TEST_MS,
);
