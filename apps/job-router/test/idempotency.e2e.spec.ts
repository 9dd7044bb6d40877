import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import type { Answer, JobClient } from './bench/job-client.js';
import { RouterBench } from './bench/router-bench.js';
import { completed } from './bench/scripted-agent.js';

const bench = new RouterBench();
const LIFE_MIN_MS = 1_000;

/** @param at operation and key: `/run a` */
const send = (client: JobClient, at: string, body: unknown = { input: { n: 1 } }): Promise<Answer> => {
  const [path = '', ...key] = at.split(' ');
  return client.post(path, body, { headers: { 'idempotency-key': key.join(' ') } });
};

const isReplayed = ({ headers }: Answer): boolean => headers.get('idempotency-replayed') === 'true';

describe('/run with an Idempotency-Key', () => {
  test('answers the same request as the first time, and makes no second job', async () => {
    const { client, agent } = await bench.scene();
    const first = await send(client, '/run a');
    const job = await agent.takeOne();
    await agent.complete(job, 'done');
    const second = await send(client, '/run a');

    expect([first.status, second.status]).toEqual([200, 200]);
    expect([isReplayed(first), isReplayed(second)]).toEqual([false, true]);
    expect(second.text).toBe(first.text);
    expect(first.body).toEqual({ id: job.jobId, status: 'IN_QUEUE' });
    expect((await client.status(job.jobId)).body.status).toBe('COMPLETED');
    expect((await agent.take({ waitMs: 1_000 })).kind).toBe('none');
  });

  test('another body is 409, also one that differs in how it is written', async () => {
    const { client } = await bench.scene();
    await send(client, '/run a', '{"input":{"n":1}}');
    for (const body of ['{"input":{"n":2}}', '{"input":{"n":1.0}}', '{"input":{"n":1},"webhook":null}']) {
      const refused = await send(client, '/run a', body);
      expect(refused.status).toBe(409);
      expect(refused.body.type).toMatch(/problems\/idempotency-key-reused$/);
    }
  });

  test('keys of other endpoints, other operations and requests without a key are others', async () => {
    const [one, other] = [await bench.scene(), await bench.scene()];
    const ids = await Promise.all([
      send(one.client, '/run a'),
      send(one.client, '/run b'),
      send(other.client, '/run a'),
      one.client.post('/run', { input: { n: 1 } }),
      send(one.client, '/run-batch a', { requests: [{ input: { n: 1 } }] }),
    ]);
    expect(ids.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(ids.some(isReplayed)).toBe(false);
    expect(new Set(ids.map(({ body }) => String(body.id ?? body.jobs[0].id))).size).toBe(ids.length);
  });

  test('a request that was refused leaves no trace: its key is free for the corrected one', async () => {
    const { client } = await bench.scene();
    expect((await send(client, '/run a', { input: 1 })).status).toBe(400);
    const corrected = await send(client, '/run a');
    expect([corrected.status, isReplayed(corrected)]).toEqual([200, false]);
  });

  test.each(['', 'a b', 'x'.repeat(256)])('a key that is none is refused: %j', async (key) => {
    const { client } = await bench.scene();
    const refused = await send(client, `/run ${key}`);
    expect(refused.status).toBe(400);
    expect(refused.body.type).toMatch(/problems\/invalid-header$/);
  });

  test('fifty equal requests at once, at two routers, are one job', async () => {
    const second = await bench.startRouter();
    const scene = await bench.scene();
    const clients = [scene.client, bench.client(scene.endpointId, scene.tenant, second)] as const;
    // Larger than what the log holds, so that its parts are written by whoever is first.
    const body = { input: { text: 'x'.repeat(200_000) } };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => send(clients[n % 2 === 0 ? 0 : 1], '/run a', body)),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter((answer) => !isReplayed(answer))).toHaveLength(1);
    const job = await scene.agent.takeOne();
    expect(await scene.agent.inputOf(job)).toBe(JSON.stringify(body.input));
    await scene.agent.complete(job, 1);
    expect((await scene.agent.take({ waitMs: 1_000 })).kind).toBe('none');
    await second.stop();
  });
});

describe('/runsync with an Idempotency-Key', () => {
  test('every equal request waits for the one job, and gets its result', async () => {
    const { client, agent } = await bench.scene();
    const waiting = [send(client, '/runsync?wait=120000 a'), send(client, '/runsync?wait=60000 a')];
    const job = await agent.takeOne();
    await agent.complete(job, { sum: 3 });
    const answers = [...(await Promise.all(waiting)), await send(client, '/runsync a')];

    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ id: job.jobId, status: 'COMPLETED', output: { sum: 3 } });
    }
    expect(answers.filter((answer) => !isReplayed(answer))).toHaveLength(1);
    expect(job.jobId).toMatch(/^sync-/);
  });

  test('one whose job is gone is 404 and does not run again', async () => {
    const { client, agent } = await bench.scene();
    const runs: string[] = [];
    agent.serve(async ({ jobId }) => {
      runs.push(jobId);
      return completed(1);
    });
    const { body: first } = await send(client, '/runsync?wait=120000 a');
    expect((await client.call(`/status/${first.id}?ttl=${LIFE_MIN_MS}`)).body).toMatchObject({ status: 'COMPLETED' });
    await eventually(async () => expect((await client.status(first.id)).status).toBe(404), { deadlineMs: 90_000 });
    const late = await send(client, '/runsync a');
    expect([late.status, isReplayed(late)]).toEqual([404, true]);
    expect(runs).toEqual([first.id]);
  });
});
