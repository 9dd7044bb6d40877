import { createHash } from 'node:crypto';
import { toRawJson, type RawJson } from '@berth/domain';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { RouterBench } from './bench/router-bench.js';
import { completed } from './bench/scripted-agent.js';

const bench = new RouterBench();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe('a job', () => {
  test('is accepted, taken, done and read', async () => {
    const { client, agent } = await bench.scene();
    const accepted = await client.post('/run', { input: { a: 1 }, s3Config: { bucketName: 'b' }, note: 'n' });
    expect(accepted.status).toBe(200);
    expect(accepted.headers.get('content-type')).toMatch(/^application\/json/);
    expect(accepted.body).toEqual({ id: expect.stringMatching(UUID), status: 'IN_QUEUE' });
    const { id } = accepted.body;

    expect((await client.status(id)).body).toMatchObject({ id, status: 'IN_QUEUE', executionTime: 0 });
    const job = await agent.takeOne();
    expect(job).toMatchObject({ jobId: id, attempt: 1, retries: 0, input: { kind: 'inline', json: '{"a":1}' } });
    expect(JSON.parse(job.extras)).toEqual({ s3Config: { bucketName: 'b' }, note: 'n' });
    expect(job.executionTimeoutMs).toBeGreaterThan(200_000);
    expect((await client.status(id)).body).toMatchObject({ status: 'IN_PROGRESS', workerId: agent.place.workerId });

    expect(await agent.complete(job, { sum: 3 })).toEqual({ outcome: 'recorded' });
    const { body } = await client.status(id);
    expect(body).toEqual({
      id,
      status: 'COMPLETED',
      delayTime: expect.any(Number),
      executionTime: expect.any(Number),
      output: { sum: 3 },
      workerId: agent.place.workerId,
    });
    expect(Number.isInteger(body.delayTime) && Number.isInteger(body.executionTime)).toBe(true);
    expect((await client.call(`/status/${id}`, { method: 'POST' })).body).toEqual(body);
  });

  test('carries the trace of its request to the worker', async () => {
    const { client, agent } = await bench.scene();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await client.post('/run', { input: {} }, { headers: { traceparent } });

    expect((await agent.takeOne()).traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-00$/);
  });

  test('tells its trace to a caller that asks for it, and to no other', async () => {
    const { client } = await bench.scene();
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    const { body } = await client.post('/run', { input: {} }, { headers: { traceparent } });
    const status = (query: string, method = 'GET') => client.call(`/status/${body.id}${query}`, { method });

    // This router records nothing.
    const debug = { traceId, isRecorded: false };
    for (const query of ['?debug=true', '?debug=true&ttl=60000']) {
      expect((await status(query)).body).toMatchObject({ id: body.id, status: 'IN_QUEUE', debug });
    }
    expect((await status('?debug=true', 'POST')).body).toMatchObject({ debug });
    for (const query of ['', '?debug=false']) expect((await status(query)).body).not.toHaveProperty('debug');
    expect((await status('?debug=perhaps')).status).toBe(400);
  });

  test('has its time limit from its policy, else from its endpoint', async () => {
    const { client, agent } = await bench.scene({ executionTimeoutMs: 420_000 });
    await client.run({});
    await client.run({}, { policy: { executionTimeout: 70_000 } });
    const limits = [(await agent.takeOne()).executionTimeoutMs, (await agent.takeOne()).executionTimeoutMs];

    expect(limits[0]).toBeGreaterThan(320_000);
    expect(limits[0]).toBeLessThanOrEqual(420_000);
    expect(limits[1]).toBeLessThanOrEqual(70_000);
  });

  test('whose worker fails is FAILED with the error as text', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    await agent.done(await agent.takeOne(), { kind: 'failed', error: 'boom', output: null });

    expect((await client.status(id)).body).toMatchObject({ status: 'FAILED', error: 'boom' });
  });

  test('that timed out says so', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({}, { policy: { executionTimeout: 5_000 } });
    const job = await agent.takeOne();
    expect(job.executionTimeoutMs).toBeLessThanOrEqual(5_000);
    await agent.done(job, { kind: 'timed-out' });

    expect((await client.status(id)).body).toMatchObject({ status: 'TIMED_OUT', error: 'executionTimeout exceeded' });
  });

  test('shows its last progress as output while it runs, and nothing of it afterwards', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    const { endpointId, jobId, attempt, token } = job;
    const progress = { endpointId, jobId, attempt, token, output: { kind: 'inline', json: '"50 %"' } };
    expect(await agent.ask('progress', progress)).toEqual({ outcome: 'recorded' });
    expect((await client.status(id)).body).toMatchObject({ status: 'IN_PROGRESS', output: '50 %' });
    await agent.complete(job, 'all');
    expect(await agent.ask('progress', progress)).toEqual({ outcome: 'superseded' });

    expect((await client.status(id)).body).toMatchObject({ status: 'COMPLETED', output: 'all' });
  });

  test('given up by its host waits again, and the next attempt is the second', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    expect(await agent.done(job, { kind: 'lost', reason: 'drained', isCharged: false })).toEqual({
      outcome: 'recorded',
    });
    const waiting = (await client.status(id)).body;
    expect(waiting).toMatchObject({ status: 'IN_QUEUE' });
    expect(waiting).not.toHaveProperty('retries');
    const again = await agent.takeOne();
    expect(again).toMatchObject({ jobId: id, attempt: 2, retries: 0 });
    expect(await agent.complete(job, 'late')).toEqual({ outcome: 'superseded' });
    await agent.complete(again, 'second');

    expect((await client.status(id)).body).toMatchObject({ status: 'COMPLETED', output: 'second' });
  });

  test('lost three times by its workers is FAILED with the reason', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await agent.done(await agent.takeOne(10_000), { kind: 'lost', reason: 'worker crashed', isCharged: true });
    }

    const { body } = await client.status(id);
    expect(body.status).toBe('FAILED');
    expect(body.error).toMatch(/worker crashed/);
  });

  test('keeps its result once, however often the host repeats it', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    await agent.complete(job, 1);
    expect(await agent.complete(job, 1)).toEqual({ outcome: 'recorded' });
    expect((await client.status(id)).body.output).toBe(1);
  });
});

describe('the text of inputs and outputs', () => {
  test('is never rewritten', async () => {
    const { client, agent } = await bench.scene();
    const input = '{ "n":1.0, "big":12345678901234567890,"z":1,"a":2, "u":"\\u00e9é\\ud83d\\ude00", "e":1E5 }';
    const { body } = await client.post('/run', `{"input":${input}}`);
    const job = await agent.takeOne();
    expect(await agent.inputOf(job)).toBe(input);
    await agent.completeWith(job, toRawJson(input));

    expect((await client.status(body.id)).text).toContain(`"output":${input}`);
  });

  test.each([
    ['10 MB through /run', 9 * 1024 * 1024],
    ['one byte above the inline limit', 64 * 1024 + 1],
  ])(
    'comes whole: %s',
    async (_, size) => {
      const { client, agent } = await bench.scene();
      const input = `{"s":"${'aé"\\'.slice(0, 2).repeat(Math.floor(size / 3))}"}`;
      const { status, body } = await client.post('/run', `{"input":${input}}`);
      expect(status).toBe(200);
      const job = await agent.takeOne();
      expect(sha256(await agent.inputOf(job))).toBe(sha256(input));
      await agent.completeWith(job, input as RawJson);

      const answer = await client.status(body.id);
      expect(
        sha256(answer.text.slice(answer.text.indexOf('"output":') + 9, answer.text.lastIndexOf(',"workerId"'))),
      ).toBe(sha256(input));
    },
    30_000,
  );

  test('comes whole through /runsync up to 20 MB', async () => {
    const { client, agent } = await bench.scene();
    const input = `{"s":"${'x'.repeat(20 * 1024 * 1024 - 100)}"}`;
    agent.serve(async (job) => {
      const text = await agent.inputOf(job);
      expect(sha256(text)).toBe(sha256(input));
      return completed(sha256(text));
    });
    const answer = await client.post('/runsync', `{"input":${input}}`);

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'COMPLETED', output: sha256(input) });
  });

  test('an output that did not arrive whole fails the job instead of showing half of it', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    const manifest = { name: 'out1', parts: 2, sizeBytes: 600_000, sha256: sha256('x') };
    expect(await agent.done(job, { kind: 'completed', output: { kind: 'blob', manifest } })).toEqual({
      outcome: 'recorded',
    });

    expect((await client.status(id)).body).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/damaged.*missing/),
    });
  });
});

describe('/runsync', () => {
  test('answers with the result when it comes within the wait', async () => {
    const { client, agent } = await bench.scene();
    agent.serve(async (job) => completed({ echo: JSON.parse(await agent.inputOf(job)) }));
    const { status, body } = await client.post('/runsync', { input: { a: 1 } });

    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^sync-/),
      status: 'COMPLETED',
      delayTime: expect.any(Number),
      executionTime: expect.any(Number),
      output: { echo: { a: 1 } },
      workerId: agent.place.workerId,
    });
  });

  test('answers with the status of the moment when the wait is over, and the job goes on', async () => {
    const { client, agent } = await bench.scene();
    const { body } = await client.post('/runsync?wait=1000', { input: {} });
    expect(body).toMatchObject({ id: expect.stringMatching(/^sync-/), status: 'IN_QUEUE', executionTime: 0 });
    expect(body.delayTime).toBeGreaterThanOrEqual(1_000);
    const job = await agent.takeOne();
    const waiting = client.call(`/status-sync/${body.id}?wait=120000`);
    await agent.complete(job, 'late');

    expect((await waiting).body).toMatchObject({ id: body.id, status: 'COMPLETED', output: 'late' });
  });

  test('does not depend on its caller: the job of one who went away ends all the same', async () => {
    const { client, agent } = await bench.scene();
    const gone = new AbortController();
    const call = client.post('/runsync', { input: {} }, { signal: gone.signal }).catch(() => 'aborted');
    const job = await agent.takeOne();
    gone.abort();
    expect(await call).toBe('aborted');
    await agent.complete(job, 'kept');

    expect((await client.status(job.jobId)).body).toMatchObject({ status: 'COMPLETED', output: 'kept' });
  });
});

describe('/status-sync', () => {
  test('answers both verbs, and an ended job at once', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    await agent.complete(await agent.takeOne(), 7);

    for (const method of ['GET', 'POST']) {
      expect((await client.call(`/status-sync/${id}`, { method })).body).toMatchObject({
        status: 'COMPLETED',
        output: 7,
      });
    }
  });
});

describe('/cancel', () => {
  test('removes a job that waits before it starts', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const { status, body } = await client.call(`/cancel/${id}`, { method: 'POST' });
    expect(status).toBe(200);
    expect(body).toEqual({ id, status: 'CANCELLED' });

    expect(await agent.take({ waitMs: 1_000 })).toEqual({ kind: 'none' });
    expect((await client.status(id)).body).toMatchObject({ status: 'CANCELLED' });
  });

  test('ends a running job at once, tells its host, and drops its result', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    expect((await client.post(`/cancel/${id}`, '{}')).body).toEqual({ id, status: 'CANCELLED' });
    await eventually(() => {
      expect(agent.stops).toMatchObject([{ jobId: id, attempt: 1, token: job.token, reason: 'cancelled' }]);
    });
    expect(await agent.renew(job)).toEqual(['lost']);
    expect(await agent.complete(job, 'late')).toEqual({ outcome: 'superseded' });
    const { body } = await client.status(id);
    expect(body.status).toBe('CANCELLED');
    expect(body).not.toHaveProperty('output');
  });

  test('of an ended job answers with the state it has', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    await agent.complete(await agent.takeOne(), 1);
    expect((await client.call(`/cancel/${id}`, { method: 'POST' })).body).toEqual({ id, status: 'COMPLETED' });
  });
});

describe('/health', () => {
  test('counts jobs by state and workers by phase, in integers', async () => {
    const { client, agent, endpointId, hostId } = await bench.scene();
    const ids = [await client.run({}), await client.run({}), await client.run({}), await client.run({})];
    await agent.complete(await agent.takeOne(), 1);
    await agent.done(await agent.takeOne(), { kind: 'failed', error: 'e', output: null });
    await agent.takeOne();
    const worker = (id: string, phase: 'busy' | 'starting' | 'unhealthy') => ({ id: id as never, hostId, phase });
    await bench.controlPlane.assign(endpointId, [
      { id: agent.place.workerId, hostId },
      worker('b', 'busy'),
      worker('s', 'starting'),
      worker('u', 'unhealthy'),
    ]);

    await eventually(async () => {
      const { status, body } = await client.call('/health');
      expect(status).toBe(200);
      expect(body).toEqual({
        jobs: { completed: 1, failed: 1, inProgress: 1, inQueue: 1, retried: 0 },
        workers: { idle: 1, running: 1, initializing: 1, ready: 2, throttled: 0, unhealthy: 1 },
      });
    });
    expect(ids).toHaveLength(4);
  });
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
