import { GROWTH_FILL_MAX, SUBMIT_FILL_MAX, encodeJson, type EndpointId } from '@berth/domain';
import { inParallel } from '@berth/lifecycle';
import { LOG_SHARDS, logShard } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from '@jest/globals';
import type { Answer, JobClient } from './bench/job-client.js';
import { expectAllFound, expectOutage, readinessOf, untilReady } from './bench/outage-report.js';
import { RouterBench } from './bench/router-bench.js';

const bench = new RouterBench();
const KIB = 1024;
const SUBMITS_MAX = 5_000;
const SUBMITS_AT_ONCE = 16;

const submitUntilRefused = async (client: JobClient, input: object): Promise<{ ids: string[]; refused: Answer }> => {
  const ids: string[] = [];
  while (ids.length < SUBMITS_MAX) {
    const answer = await client.post('/run', { input });
    if (answer.status !== 200) return { ids, refused: answer };
    ids.push(answer.body.id as string);
  }
  throw new Error(`${String(SUBMITS_MAX)} jobs were accepted, and there is still room`);
};

const submitMany = (client: JobClient, count: number, input: object): Promise<unknown> =>
  inParallel(Array.from({ length: count }), SUBMITS_AT_ONCE, () => client.run(input));

/** A router looks every two seconds how full its stores are; an eighth is far more than they were before. */
const untilSeen = (fill = 1 / 8): Promise<void> =>
  eventually(
    async () => {
      const metrics = await (await fetch(`http://127.0.0.1:${bench.router.operationsPort}/metrics`)).text();
      expect(Number(/^\S*store_fill_ratio\S* (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(fill);
    },
    { deadlineMs: 90_000 },
  );

describe('a store without room', () => {
  let manager: JetStreamManager;

  /** Makes the streams such that what they hold is that share of their room; returns what gives it back. */
  async function fillUp(streams: readonly string[], fill: number, leftBytes = 0): Promise<() => Promise<void>> {
    manager = await jetstreamManager(await bench.nats.connect(), { timeout: 60_000 });
    const before = await Promise.all(streams.map((name) => manager.streams.info(name)));
    const resize = async (sizeOf: (index: number) => number): Promise<void> => {
      await Promise.all(streams.map((name, index) => manager.streams.update(name, { max_bytes: sizeOf(index) })));
    };
    await resize((index) => Math.ceil(((before[index]?.state.bytes ?? 0) + leftBytes) / fill));
    return () => resize((index) => before[index]?.config.max_bytes ?? -1);
  }

  const logOf = (endpointId: EndpointId): readonly string[] => [`LOG_${logShard(endpointId)}`];
  const BLOBS = Array.from({ length: LOG_SHARDS }, (_, shard) => `BLOB_${shard}`);

  const untilAccepted = (client: JobClient, input: object): Promise<void> =>
    eventually(
      async () => {
        expect((await client.post('/run', { input })).status).toBe(200);
      },
      { deadlineMs: 90_000, intervalMs: 200 },
    );

  test('of logs refuses new jobs and names itself; accepted ones end; it takes jobs again by itself', async () => {
    const { agent, client, endpointId } = await bench.scene();
    const other = await bench.scene();
    await submitMany(client, 200, { text: 'x'.repeat(10 * KIB) });
    const giveBack = await fillUp(logOf(endpointId), SUBMIT_FILL_MAX, 200 * KIB);
    await untilSeen();
    const { ids, refused } = await submitUntilRefused(client, { text: 'x'.repeat(10 * KIB) });
    expectOutage(refused, /^The store of jobs is almost full and takes no new jobs/);
    await eventually(async () => {
      // Nobody reads the history here, and that is said as well.
      const degraded = expect.arrayContaining([refused.body.detail]);
      expect(await readinessOf(bench.router)).toMatchObject({ status: 'ready', degraded });
    });
    for (let n = 0; n < 10; n += 1) {
      const job = await agent.takeOne();
      expect(await agent.complete(job, { text: 'y'.repeat(KIB) })).toEqual({ outcome: 'recorded' });
      expect((await client.status(job.jobId)).body).toMatchObject({ status: 'COMPLETED' });
    }
    // The room of one shard is nothing to the others.
    if (logShard(other.endpointId) !== logShard(endpointId)) await other.client.run({});
    await giveBack();
    await untilAccepted(client, {});
    await expectAllFound(client, ids);
    await eventually(async () => {
      expect(await readinessOf(bench.router)).not.toHaveProperty('degraded');
    });
  });

  test('of logs with next to nothing left begins nothing more, and lets ends and cancels through', async () => {
    const { agent, client, endpointId } = await bench.scene();
    await submitMany(client, 100, { text: 'x'.repeat(10 * KIB) });
    const [running, doomed] = [await agent.takeOne(), await agent.takeOne()];
    const failed = await agent.takeOne();
    await agent.done(failed, { kind: 'failed', error: 'boom', output: null });
    const giveBack = await fillUp(logOf(endpointId), (GROWTH_FILL_MAX + 1) / 2);
    await untilSeen(GROWTH_FILL_MAX);
    for (const refused of [await client.post('/run', { input: {} }), await client.post(`/retry/${failed.jobId}`, '')]) {
      expectOutage(refused, /^The store of jobs is almost full/);
    }
    await expect(agent.takeOne(1_000)).rejects.toThrow();
    expect(await agent.complete(running, 'done')).toEqual({ outcome: 'recorded' });
    expect((await client.post(`/cancel/${doomed.jobId}`, '')).body).toMatchObject({ status: 'CANCELLED' });
    const { body } = await client.call('/health');
    expect(body.jobs).toMatchObject({ completed: 1, failed: 1, inProgress: 0, inQueue: 97 });
    await giveBack();
    await untilAccepted(client, {});
    const next = await agent.takeOne();
    expect(await agent.complete(next, 1)).toEqual({ outcome: 'recorded' });
  });

  test('of large inputs refuses those alone, and keeps room for the outputs of accepted jobs', async () => {
    const { agent, client } = await bench.scene();
    await submitMany(client, 50, { text: 'x'.repeat(300 * KIB) });
    const giveBack = await fillUp(BLOBS, SUBMIT_FILL_MAX, 4_096 * KIB);
    await untilSeen();
    const { ids, refused } = await submitUntilRefused(client, { text: 'x'.repeat(300 * KIB) });
    expectOutage(refused, /^The store of large inputs and outputs is almost full and takes no new jobs/);
    expect((await client.post('/run', { input: {} })).status).toBe(200);
    const job = await agent.takeOne();
    expect(await agent.completeWith(job, encodeJson('y'.repeat(270 * KIB)))).toEqual({ outcome: 'recorded' });
    expect((await client.status(job.jobId)).body.output).toHaveLength(270 * KIB);
    await giveBack();
    await untilAccepted(client, { text: 'x'.repeat(300 * KIB) });
    await expectAllFound(client, ids);
  });

  test('because the broker has used up its own: nothing is said that is not certain, and all is there when there is room', async () => {
    const { agent, client } = await bench.scene();
    const ids = [await client.run({ text: 'x'.repeat(60 * KIB) }), await client.run({})];
    const job = await agent.takeOne();
    await bench.nats.restart('stop', { fileStoreMaxBytes: 64 * KIB });
    // Who owns a log is not written any more, so nobody is certain to own it.
    for (const refused of await Promise.all([client.post('/run', { input: {} }), client.status(job.jobId)])) {
      expectOutage(refused, /^Nobody who keeps the jobs of this endpoint has answered in time/);
    }
    await expect(agent.complete(job, 'done')).rejects.toMatchObject({ code: 'service-unavailable' });
    await bench.nats.restart('stop');
    await untilReady(bench.router);
    await eventually(
      async () => {
        expect(await agent.complete(job, 'done')).toEqual({ outcome: 'recorded' });
      },
      { deadlineMs: 90_000 },
    );
    await untilAccepted(client, {});
    await expectAllFound(client, ids);
  });
});
