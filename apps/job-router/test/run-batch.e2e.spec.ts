import { describe, expect, test } from '@jest/globals';
import type { Answer, JobClient } from './bench/job-client.js';
import { RouterBench } from './bench/router-bench.js';
import { completed } from './bench/scripted-agent.js';

const bench = new RouterBench({ environment: { BERTH_RATE_LIMITS: 'on' } });

const batch = (client: JobClient, requests: unknown, key?: string): Promise<Answer> =>
  client.post('/run-batch', { requests }, key === undefined ? {} : { headers: { 'idempotency-key': key } });

const idsOf = ({ body }: Answer): readonly string[] => (body.jobs as { id: string }[]).map(({ id }) => id);

describe('/run-batch', () => {
  test('accepts each request as a job of its own, in order', async () => {
    const { client, agent } = await bench.scene();
    const answer = await batch(client, [
      { input: { n: 0 } },
      { input: { n: 1 }, policy: { lowPriority: true } },
      { input: { n: 2 }, s3Config: { accessSecret: 'hunter2' } },
    ]);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ accepted: 3, rejected: 0 });
    const ids = idsOf(answer);
    expect(answer.body.jobs).toEqual(ids.map((id) => ({ id, status: 'IN_QUEUE' })));

    const jobs = [await agent.takeOne(), await agent.takeOne(), await agent.takeOne()];
    expect(jobs.map(({ jobId }) => jobId)).toEqual([ids[0], ids[2], ids[1]]);
    expect(jobs.map(({ input }) => (input.kind === 'inline' ? input.json : null))).toEqual([
      '{"n":0}',
      '{"n":2}',
      '{"n":1}',
    ]);
    expect(JSON.parse(jobs[1]?.extras ?? '')).toEqual({ s3Config: { accessSecret: 'hunter2' } });
  });

  test('inputs keep their bytes', async () => {
    const { client, agent } = await bench.scene();
    const input = '{ "z" : 1.0 ,\t"a":12345678901234567890, "u":"\\u00e9" }';
    await client.post('/run-batch', `{"requests":[ {"input":${input}} ]}`);
    expect(await agent.inputOf(await agent.takeOne())).toBe(input);
  });

  test('one bad request refuses all, by name, and nothing is accepted', async () => {
    const { client, agent } = await bench.scene();
    const requests = [{ input: {} }, { input: {} }, { input: {} }, { input: [], policy: { ttl: 1 } }];
    const refused = await batch(client, requests);
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toEqual([
      '$.requests[3].input: must be an object',
      '$.requests[3].policy.ttl: must be an integer from 10000 to 604800000 (milliseconds)',
    ]);
    expect(refused.body).not.toHaveProperty('status');
    expect((await agent.take({ waitMs: 1_000 })).kind).toBe('none');
  });

  test('a thousand at once, and not one more', async () => {
    const [many, tooMany] = [await bench.scene(), await bench.scene()];
    const requests = Array.from({ length: 1_000 }, (_, n) => ({ input: { n } }));
    const answer = await batch(many.client, requests);
    expect(answer.body).toMatchObject({ accepted: 1_000, rejected: 0 });
    expect(new Set(idsOf(answer)).size).toBe(1_000);
    expect((await batch(tooMany.client, [...requests, { input: {} }])).status).toBe(400);
  });

  test('each of them counts against the limit of /run, and a list that does not fit is refused whole', async () => {
    const { client } = await bench.scene();
    const requests = Array.from({ length: 600 }, () => ({ input: {} }));
    expect((await batch(client, requests)).status).toBe(200);
    const refused = await batch(client, requests);
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true]);
  });

  test('a body of more than 10 MiB is 413', async () => {
    const { client } = await bench.scene();
    const refused = await batch(client, [{ input: { text: 'x'.repeat(10 * 1024 ** 2) } }]);
    expect(refused.status).toBe(413);
  });

  test('the same list under one key is the same jobs', async () => {
    const { client, agent } = await bench.scene();
    const requests = Array.from({ length: 70 }, (_, n) => ({ input: { n } }));
    const [first, second] = [await batch(client, requests, 'a'), await batch(client, requests, 'a')];
    expect(second.text).toBe(first.text);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect((await batch(client, requests.slice(1), 'a')).status).toBe(409);
    const runs: string[] = [];
    agent.serve(async ({ jobId }) => {
      runs.push(jobId);
      return completed(1);
    }, 16);
    for (const id of idsOf(first)) await client.call(`/status-sync/${id}?wait=120000`);
    expect(runs.sort()).toEqual([...idsOf(first)].sort());
  });

  test('two routers that get one list at the same time accept it once', async () => {
    const second = await bench.startRouter();
    const scene = await bench.scene();
    const far = bench.client(scene.endpointId, scene.tenant, second);
    const requests = Array.from({ length: 100 }, (_, n) => ({ input: { n } }));
    const answers = await Promise.all([scene.client, far, scene.client].map((client) => batch(client, requests, 'a')));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(new Set(idsOf(answers[0] as Answer)).size).toBe(100);
    const health = await scene.client.call('/health');
    expect(health.body.jobs.inQueue).toBeLessThanOrEqual(100);
    await second.stop();
  });

  test('only where there is a queue, for those who may write jobs, by POST', async () => {
    const balanced = await bench.scene({ type: 'LOAD_BALANCER' });
    expect((await batch(balanced.client, [{ input: {} }])).status).toBe(400);
    const { client } = await bench.scene();
    expect((await client.call('/run-batch')).status).toBe(405);
  });
});
