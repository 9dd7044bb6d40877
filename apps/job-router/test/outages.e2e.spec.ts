import { encodeJson } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { ADMISSION_FILL_MAX, JOB_SHARDS } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from '@jest/globals';
import type { Answer, JobClient } from './bench/job-client.js';
import { RouterBench } from './bench/router-bench.js';

const bench = new RouterBench();
const KIB = 1024;

interface Report {
  readonly status: string;
  readonly dependencies: Readonly<Record<string, { readonly state: string; readonly reason?: string }>>;
  readonly degraded?: readonly string[];
}

const readiness = async (): Promise<Report> =>
  (await (await fetch(`http://127.0.0.1:${bench.router.operationsPort}/readyz`)).json()) as Report;

const untilReady = (): Promise<void> =>
  eventually(
    async () => {
      expect((await readiness()).status).toBe('ready');
    },
    { deadlineMs: 30_000 },
  );

/** Says what is missing and when to ask again, in the shape of every job path's error. */
const expectOutage = (answer: Answer, detail: RegExp): void => {
  expect([answer.status, answer.body?.detail]).toEqual([503, expect.stringMatching(detail)]);
  expect(answer.body.type).toMatch(/\/problems\/service-unavailable$/);
  expect(answer.body).not.toHaveProperty('status');
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
};

const submitUntilRefused = async (client: JobClient, input: object): Promise<{ ids: string[]; refused: Answer }> => {
  const ids: string[] = [];
  for (;;) {
    const answer = await client.post('/run', { input });
    if (answer.status !== 200) return { ids, refused: answer };
    ids.push(answer.body.id as string);
  }
};

const expectAllFound = async (client: JobClient, ids: readonly string[]): Promise<void> => {
  const missing: string[] = [];
  for (const id of ids) if ((await client.status(id)).status !== 200) missing.push(id);
  expect(missing).toEqual([]);
};

describe('a broker that goes away under load', () => {
  const SUBMITTERS = 8;
  const REASONS = /^The job store does not answer at the moment|^The job could not be stored; nothing was accepted/;

  test.each(['kill', 'stop'] as const)(
    '(%s): each submit is kept or refused with a time to wait; it goes on by itself',
    async (how) => {
      const { client } = await bench.scene();
      const accepted: string[] = [];
      const refused: Answer[] = [];
      let isOver = false;
      const submit = async (): Promise<void> => {
        while (!isOver) {
          const answer = await client.post('/run', { input: {} });
          if (answer.status === 200) accepted.push(answer.body.id as string);
          else refused.push(answer);
        }
      };
      const submitting = Promise.all(Array.from({ length: SUBMITTERS }, submit));
      await eventually(() => {
        expect(accepted.length).toBeGreaterThan(100);
      });
      await bench.nats.restart(how);
      const before = accepted.length;
      await eventually(
        () => {
          expect(accepted.length).toBeGreaterThan(before + 100);
        },
        { deadlineMs: 45_000 },
      );
      isOver = true;
      await submitting;
      for (const answer of refused) expectOutage(answer, REASONS);
      await expectAllFound(client, accepted);
    },
    120_000,
  );
});

test('a broker that is away is named on the operations port, and what is known is still told', async () => {
  const { client } = await bench.scene();
  await client.run({});
  await eventually(async () => {
    expect((await client.call('/health')).body.jobs).toMatchObject({ inQueue: 1 });
  });
  await bench.nats.server.kill();
  const report = await readiness();
  expect(report.status).toBe('not-ready');
  expect(Object.keys(report.dependencies).sort()).toEqual(['directory', 'nats', 'topology', 'view']);
  expect(report.dependencies['nats']).toEqual({ state: 'down', reason: expect.any(String) });
  expect(report.dependencies['directory']).toEqual({ state: 'up' });
  expect((await client.call('/health')).body.jobs).toMatchObject({ inQueue: 1 });
  await bench.nats.restart();
  await untilReady();
}, 60_000);

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
    const giveBack = await leaveRoom('JOBS', 200 * KIB);
    // The routers look every two seconds.
    await systemClock.sleep(2_500);
    const { ids, refused } = await submitUntilRefused(client, { text: 'x'.repeat(10 * KIB) });
    expectOutage(refused, /^The store of job records is almost full and takes no new jobs/);
    expect(await readiness()).toMatchObject({ status: 'ready', degraded: [refused.body.detail] });
    for (let n = 0; n < 10; n += 1) {
      const job = await agent.takeOne();
      expect(await agent.complete(job, { text: 'y'.repeat(KIB) })).toEqual({ outcome: 'recorded' });
      expect((await client.status(job.jobId)).body).toMatchObject({ status: 'COMPLETED' });
    }
    await giveBack();
    await untilAccepted(client, {});
    await expectAllFound(client, ids);
    await eventually(async () => {
      expect(await readiness()).not.toHaveProperty('degraded');
    });
  }, 60_000);

  test('of large inputs refuses those alone, and keeps room for the outputs of accepted jobs', async () => {
    const { agent, client } = await bench.scene();
    const giveBack = await leaveRoom('BLOB', 4_096 * KIB);
    await systemClock.sleep(2_500);
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
    await untilReady();
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
