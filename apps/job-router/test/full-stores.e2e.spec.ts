import { encodeJson } from '@berth/domain';
import { inParallel } from '@berth/lifecycle';
import { ADMISSION_FILL_MAX, JOB_SHARDS } from '@berth/messaging';
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
const untilSeen = (): Promise<void> =>
  eventually(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${bench.router.operationsPort}/metrics`)).text();
    expect(Number(/^\S*store_fill_ratio\S* (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(1 / 8);
  });

describe('a store without room', () => {
  let manager: JetStreamManager;

  /** Leaves each stream of a family about so much room before it refuses; returns what gives it back. */
  async function leaveRoom(family: 'JOBS' | 'BLOB', bytes: number): Promise<() => Promise<void>> {
    manager = await jetstreamManager(await bench.nats.connect());
    const streams = Array.from({ length: JOB_SHARDS }, (_, shard) => `${family}_${shard}`);
    const before = await Promise.all(streams.map((name) => manager.streams.info(name)));
    const resize = async (sizeOf: (index: number) => number): Promise<void> => {
      await Promise.all(streams.map((name, index) => manager.streams.update(name, { max_bytes: sizeOf(index) })));
    };
    await resize((index) => Math.ceil((before[index]?.state.bytes ?? 0) / ADMISSION_FILL_MAX) + bytes);
    return () => resize((index) => before[index]?.config.max_bytes ?? -1);
  }

  const untilAccepted = (client: JobClient, input: object): Promise<void> =>
    eventually(
      async () => {
        expect((await client.post('/run', { input })).status).toBe(200);
      },
      { deadlineMs: 10_000, intervalMs: 200 },
    );

  test('of records refuses new jobs and names itself; accepted ones end; it takes jobs again by itself', async () => {
    const { agent, client } = await bench.scene();
    await submitMany(client, 200, { text: 'x'.repeat(10 * KIB) });
    const giveBack = await leaveRoom('JOBS', 200 * KIB);
    await untilSeen();
    const { ids, refused } = await submitUntilRefused(client, { text: 'x'.repeat(10 * KIB) });
    expectOutage(refused, /^The store of job records is almost full and takes no new jobs/);
    expect(await readinessOf(bench.router)).toMatchObject({ status: 'ready', degraded: [refused.body.detail] });
    for (let n = 0; n < 10; n += 1) {
      const job = await agent.takeOne();
      expect(await agent.complete(job, { text: 'y'.repeat(KIB) })).toEqual({ outcome: 'recorded' });
      expect((await client.status(job.jobId)).body).toMatchObject({ status: 'COMPLETED' });
    }
    await giveBack();
    await untilAccepted(client, {});
    await expectAllFound(client, ids);
    await eventually(async () => {
      expect(await readinessOf(bench.router)).not.toHaveProperty('degraded');
    });
  }, 60_000);

  test('of large inputs refuses those alone, and keeps room for the outputs of accepted jobs', async () => {
    const { agent, client } = await bench.scene();
    await submitMany(client, 50, { text: 'x'.repeat(300 * KIB) });
    const giveBack = await leaveRoom('BLOB', 4_096 * KIB);
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
  }, 60_000);

  test('because the broker has used up its own: nothing is accepted, all is readable, results come when there is room', async () => {
    const { agent, client } = await bench.scene();
    const ids = [await client.run({ text: 'x'.repeat(60 * KIB) }), await client.run({})];
    const job = await agent.takeOne();
    await bench.nats.restart('stop', { fileStoreMaxBytes: 64 * KIB });
    await eventually(
      async () => {
        const refused = await client.post('/run', { input: {} });
        expectOutage(refused, /^The broker has used up its storage and the job store takes nothing new/);
      },
      { deadlineMs: 30_000 },
    );
    expect((await client.status(job.jobId)).body.status).toBe('IN_PROGRESS');
    await expect(agent.complete(job, 'done')).rejects.toMatchObject({ code: 'service-unavailable' });
    await bench.nats.restart('stop');
    await untilReady(bench.router);
    await eventually(
      async () => {
        expect(await agent.complete(job, 'done')).toEqual({ outcome: 'recorded' });
      },
      { deadlineMs: 45_000 },
    );
    await untilAccepted(client, {});
    await expectAllFound(client, ids);
  }, 120_000);
});
