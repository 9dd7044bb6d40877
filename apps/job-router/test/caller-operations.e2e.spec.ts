import { toRawJson } from '@berth/domain';
import { inParallel, systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import type { JobClient } from './bench/job-client.js';
import { RouterBench } from './bench/router-bench.js';
import { completed } from './bench/scripted-agent.js';

const bench = new RouterBench();

/** A job is gone for everybody soon after its end (docs/invariants.md, 8); what a busy machine may add is counted in. */
const GONE_WITHIN_MS = 90_000;
/** A life that is soon over, and not before the answer to whoever gave it: a busy machine may stand still for a second. */
const SHORT_MS = 5_000;

describe('/retry', () => {
  test('runs the job again under its id with its input, and shows nothing of the attempt before', async () => {
    const { client, agent } = await bench.scene();
    const input = `{ "n":1.0, "s":"${'x'.repeat(100_000)}" }`;
    const { body } = await client.post('/run', `{"input":${input}}`);
    const first = await agent.takeOne();
    await agent.chunk(first, 0, toRawJson('{"output":"old"}'));
    await agent.done(
      first,
      { kind: 'failed', error: 'boom', output: { kind: 'inline', json: toRawJson('"half"') } },
      1,
    );
    expect((await client.status(body.id)).body).toMatchObject({ status: 'FAILED', output: 'half', error: 'boom' });

    const retried = await client.post(`/retry/${body.id}`, '');
    expect([retried.status, retried.body]).toEqual([200, { id: body.id, status: 'IN_QUEUE' }]);
    const waiting = (await client.status(body.id)).body;
    expect(waiting).toMatchObject({ id: body.id, status: 'IN_QUEUE' });
    for (const member of ['output', 'error', 'retries']) expect(waiting).not.toHaveProperty(member);

    const second = await agent.takeOne();
    expect(second).toMatchObject({ jobId: body.id, attempt: 2, retries: 0 });
    expect(await agent.inputOf(second)).toBe(input);
    expect(await agent.complete(first, 'late')).toEqual({ outcome: 'superseded' });
    await agent.chunk(second, 0, toRawJson('{"output":"new"}'));
    await agent.done(second, completed('all'), 1);
    expect((await client.call(`/stream/${body.id}?cursor=`)).text).not.toContain('old');
    expect((await client.status(body.id)).body).toMatchObject({ status: 'COMPLETED', output: 'all' });
    await eventually(async () => {
      expect((await client.call('/health')).body.jobs).toMatchObject({ retried: 1, completed: 1, failed: 1 });
    });
  });

  test('twice at the same time on two routers is one new attempt, and both hear so', async () => {
    const { tenant, endpointId, client, agent } = await bench.scene();
    const id = await client.run({});
    await agent.done(await agent.takeOne(), { kind: 'failed', error: 'boom', output: null });
    const clients = [client, bench.client(endpointId, tenant, await bench.startRouter())];
    const answers = await Promise.all(clients.map((each) => each.call(`/retry/${id}`, { method: 'POST' })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await agent.takeOne()).toMatchObject({ jobId: id, attempt: 2 });
    expect(await agent.take({ waitMs: 1_000 })).toEqual({ kind: 'none' });
  });

  test('gives the job its three attempts again', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const lose = async (): Promise<unknown> =>
      agent.done(await agent.takeOne(), { kind: 'lost', reason: 'crash', isCharged: true });
    for (let lost = 0; lost < 3; lost += 1) await lose();
    expect((await client.status(id)).body).toMatchObject({ status: 'FAILED' });
    await client.call(`/retry/${id}`, { method: 'POST' });
    await lose();
    expect((await client.status(id)).body).toMatchObject({ status: 'IN_QUEUE', retries: 1 });
  });
});

describe('/purge-queue', () => {
  test('removes what waits, of both priorities and through its delay, and leaves what runs', async () => {
    const { client, agent } = await bench.scene();
    const running = await client.run({});
    await agent.takeOne();
    const delayed = await client.run({});
    await agent.done(await agent.takeOne(), { kind: 'lost', reason: 'crash', isCharged: true });
    const waiting = [delayed, await client.run({}), await client.run({}, { policy: { lowPriority: true } })];
    const { status, body } = await client.post('/purge-queue', '');
    expect([status, body]).toEqual([200, { removed: 3, status: 'completed' }]);
    for (const id of waiting) expect((await client.status(id)).status).toBe(404);
    expect((await client.status(running)).body).toMatchObject({ status: 'IN_PROGRESS' });
    expect(await agent.take({ waitMs: 2_000 })).toEqual({ kind: 'none' });
    await eventually(async () => {
      expect((await client.call('/health')).body.jobs).toMatchObject({ inQueue: 0, inProgress: 1 });
    });
  });

  test('answers whoever is held for a job that it removes', async () => {
    const { client } = await bench.scene();
    const held = client.post('/runsync?wait=120000', { input: {} });
    await eventually(async () => {
      expect((await client.call('/health')).body.jobs).toMatchObject({ inQueue: 1 });
    });
    expect((await client.call('/purge-queue', { method: 'POST' })).body.removed).toBe(1);
    // Whoever is held until the wait is over hears how the job stands.
    expect((await held).status).toBe(404);
  });

  test('counts exactly while jobs come, are taken and cancelled, by two routers at a time', async () => {
    const { tenant, endpointId, client, agent } = await bench.scene();
    const other = bench.client(endpointId, tenant, await bench.startRouter());
    const taken = new Set<string>();
    const cancelled = new Set<string>();
    const takeSome = async (): Promise<void> => {
      while (!isOver) {
        const reply = await agent.take({ slots: 8, waitMs: 300 });
        if (reply.kind !== 'jobs') continue;
        for (const job of reply.jobs) taken.add(job.jobId);
        await Promise.all(reply.jobs.map((job) => agent.complete(job, 1)));
      }
    };
    let isOver = false;
    const taking = Promise.all([takeSome(), takeSome()]);
    let removed = 0;
    const purge = async (): Promise<void> => {
      const answers = await Promise.all([client, other].map((each) => each.call('/purge-queue', { method: 'POST' })));
      for (const { status, body } of answers) {
        expect([status, body.status]).toEqual([200, 'completed']);
        removed += body.removed as number;
      }
    };
    const numbers = Array.from({ length: 500 }, (_, n) => n);
    let purging: Promise<void> = Promise.resolve();
    const ids = await inParallel(numbers, 50, async (n) => {
      const id = await (n % 2 === 0 ? client : other).run({ n });
      if (n === 250) purging = purge();
      if (n % 10 !== 0) return id;
      const { body } = await client.call(`/cancel/${id}`, { method: 'POST' });
      if (body.status === 'CANCELLED') cancelled.add(id);
      return id;
    });
    await purging;
    await eventually(async () => {
      const { inQueue, inProgress } = (await client.call('/health')).body.jobs;
      expect([inQueue, inProgress]).toEqual([0, 0]);
    });
    isOver = true;
    await taking;

    const told = await inParallel(ids, 50, async (id) => ({ id, ...(await client.status(id)) }));
    const gone = told.filter(({ status }) => status === 404).map(({ id }) => id);
    expect(gone.length).toBe(removed);
    expect(gone.filter((id) => taken.has(id) || cancelled.has(id))).toEqual([]);
    for (const { id, status, body } of told) {
      if (status === 404) continue;
      expect(body.status).toBe(cancelled.has(id) ? 'CANCELLED' : 'COMPLETED');
    }
    expect(removed).toBeGreaterThan(0);
  });
});

/** A job with another life than the short one it had. One that a slow machine did not reach in time says nothing of it. */
async function prolonged(client: JobClient): Promise<string> {
  for (;;) {
    const id = await client.run({});
    const atMs = systemClock.monotonicMs();
    await client.call(`/status/${id}?ttl=${SHORT_MS}`, { method: 'POST' });
    const { body } = await client.call(`/status/${id}?ttl=600000`, { method: 'POST' });
    if (systemClock.monotonicMs() - atMs >= SHORT_MS) continue;
    expect(body).toMatchObject({ status: 'IN_QUEUE' });
    return id;
  }
}

describe('/status?ttl=', () => {
  test('shortens the life of a running job: gone for everybody at once, its host is told, its lease goes', async () => {
    const { client, agent } = await bench.scene();
    const held = client.post('/runsync?wait=120000', { input: {} });
    const job = await agent.takeOne();
    const atMs = systemClock.monotonicMs();
    expect((await client.call(`/status/${job.jobId}?ttl=${SHORT_MS}`)).body).toMatchObject({ status: 'IN_PROGRESS' });
    // As above: by its end, and not by that of the wait.
    expect((await held).status).toBe(404);
    expect(systemClock.monotonicMs() - atMs).toBeGreaterThan(SHORT_MS - 100);
    expect((await client.status(job.jobId)).status).toBe(404);
    await eventually(
      () => {
        expect(agent.stops[0]).toMatchObject({ jobId: job.jobId, token: job.token, reason: 'expired' });
      },
      { deadlineMs: GONE_WITHIN_MS },
    );
    expect(await agent.renew(job)).toEqual(['lost']);
    expect(await agent.complete(job, 1)).toEqual({ outcome: 'superseded' });
    await eventually(async () => {
      expect((await client.call('/health')).body.jobs).toMatchObject({ inQueue: 0, inProgress: 0 });
    });
  });

  test('prolongs it: the former end passes unnoticed, by POST too', async () => {
    const { client, agent } = await bench.scene();
    const id = await prolonged(client);
    expect((await client.call(`/status-sync/${id}?wait=${SHORT_MS + 2_000}`)).body).toMatchObject({
      status: 'IN_QUEUE',
    });
    expect((await client.call('/health')).body.jobs).toMatchObject({ inQueue: 1 });
    expect(await agent.takeOne()).toMatchObject({ jobId: id });
  });

  test('replaces the retention of a result', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    await agent.complete(await agent.takeOne(), 1);
    const { body } = await client.call(`/status/${id}?ttl=${SHORT_MS}`);
    expect(body).toMatchObject({ status: 'COMPLETED', output: 1 });
    await eventually(
      async () => {
        expect((await client.status(id)).status).toBe(404);
      },
      { deadlineMs: SHORT_MS + GONE_WITHIN_MS },
    );
  });

  test.each(['999', '604800001', '1.5', '-1', '1e3', 'soon', ''])('refuses %j', async (ttl) => {
    const { client } = await bench.scene();
    const id = await client.run({});
    const { status, body } = await client.call(`/status/${id}?ttl=${ttl}`);
    expect([status, body.type]).toEqual([400, expect.stringMatching(/invalid-query$/)]);
    expect(body.detail).toMatch(/1000 to 604800000/);
  });

  test('is not for a key that may only read', async () => {
    const { endpointId, tenant, client } = await bench.scene();
    const reader = bench.client(
      endpointId,
      await bench.controlPlane.tenant({ accountId: tenant.accountId, scopes: ['jobs:read'] }),
    );
    const id = await client.run({});
    expect((await reader.call(`/status/${id}?ttl=1000`)).status).toBe(403);
    expect((await reader.status(id)).status).toBe(200);
  });
});
