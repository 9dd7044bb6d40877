import { toRawJson } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { RouterBench } from './bench/router-bench.js';

const bench = new RouterBench();
const chunk = (value: unknown) => toRawJson(JSON.stringify({ output: value }));
const array = (path: string) => `${path}?format=array&wait=1000`;
const object = (path: string) => `${path}?format=object&wait=1000`;

describe('/stream', () => {
  test('gives each chunk once to a reader without a cursor, and the final status with the last', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const path = `/stream/${id}`;
    expect((await client.call(object(path))).body).toEqual({ status: 'IN_QUEUE', stream: [] });
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk('a'));
    await agent.chunk(job, 1, toRawJson('{"output": {"n":1.0}, "metrics": {"stream_index":1}}'));

    const first = await client.call(object(path));
    expect(first.text).toBe(
      '{"status":"IN_PROGRESS","stream":[{"output":"a","metrics":{}},{"output":{"n":1.0},"metrics":{"stream_index":1}}]}',
    );
    await agent.chunk(job, 2, chunk('c'));
    await agent.done(job, { kind: 'completed', output: null }, 3);
    expect((await client.call(object(path))).body).toEqual({
      status: 'COMPLETED',
      stream: [{ output: 'c', metrics: {} }],
    });
    expect((await client.call(object(path))).body).toEqual({ status: 'COMPLETED', stream: [] });
  });

  test('HEAD moves no place, makes no job and ends no life: it is not answered', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk('a'));
    const before = (await client.call('/health')).body.jobs;
    for (const path of [`/stream/${id}`, `/status/${id}?ttl=1000`, '/openai/v1/models']) {
      const { headers, status } = await client.call(path, { method: 'HEAD' });
      expect([path, status, headers.get('allow')]).toEqual([path, 405, 'GET, POST']);
    }
    expect((await client.call('/health', { method: 'HEAD' })).status).toBe(200);
    expect((await client.call('/health')).body.jobs).toEqual(before);
    expect((await client.call(object(`/stream/${id}`))).body.stream).toEqual([{ output: 'a', metrics: {} }]);
  });

  test('each key reads for itself', async () => {
    const { client, agent, tenant, endpointId } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk('a'));
    await agent.done(job, { kind: 'completed', output: null }, 1);
    const other = bench.client(endpointId, await bench.controlPlane.tenant({ accountId: tenant.accountId }));

    for (const reader of [client, other]) {
      expect((await reader.call(object(`/stream/${id}`))).body.stream).toHaveLength(1);
      expect((await reader.call(object(`/stream/${id}`))).body.stream).toEqual([]);
    }
  });

  test('the array says status and cursor in its headers, and a cursor replays', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk(1));
    await agent.chunk(job, 1, chunk(2));
    await agent.done(job, { kind: 'completed', output: null }, 2);
    const path = array(`/stream/${id}`);
    const all = await client.call(path);
    expect(all.body).toEqual([
      { output: 1, metrics: {} },
      { output: 2, metrics: {} },
    ]);
    expect(all.headers.get('berth-job-status')).toBe('COMPLETED');
    expect(all.headers.get('vary')).toBe('Accept, Content-Type, User-Agent');
    const end = all.headers.get('berth-next-cursor') ?? '';

    expect((await client.call(`${path}&cursor=a1-0`)).body).toHaveLength(2);
    expect((await client.call(`${path}&cursor=a1-1`)).body).toEqual([{ output: 2, metrics: {} }]);
    expect((await client.call(`${path}&cursor=${end}`)).body).toEqual([]);
    expect((await client.call(`${path}&cursor=a1-0`)).body).toHaveLength(2);
    expect((await client.call(`${path}&cursor=nonsense`)).status).toBe(400);
  });

  test('official clients get the object, everybody else the array', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    await agent.complete(await agent.takeOne(), 1);
    const path = `/stream/${id}`;
    const isArray = async (options: Parameters<typeof client.call>[1]): Promise<boolean> =>
      Array.isArray((await client.call(path, options)).body);

    expect(await isArray({})).toBe(true);
    expect(await isArray({ headers: { accept: 'application/json' } })).toBe(true);
    expect(await isArray({ method: 'POST' })).toBe(false);
    expect(await isArray({ headers: { 'content-type': 'application/json' } })).toBe(false);
    expect(await isArray({ headers: { 'user-agent': 'RunPod-JS-SDK/1.1.2 (x)' } })).toBe(false);
    expect((await client.call(`${path}?format=xml`)).status).toBe(400);
  });

  test('the Python client, which knows no CANCELLED here, hears FAILED, and nobody else does', async () => {
    const { client } = await bench.scene();
    const id = await client.run({});
    await client.call(`/cancel/${id}`, { method: 'POST' });
    const statusFor = async (userAgent: string): Promise<unknown> => {
      const headers = { 'user-agent': userAgent, 'content-type': 'application/json' };
      const { body, headers: answered } = await client.call(`/stream/${id}`, { headers });
      expect([body.stream, answered.get('berth-job-status')]).toEqual([[], 'CANCELLED']);
      return body.status;
    };
    expect(await statusFor('python-requests/2.32.3')).toBe('FAILED');
    expect(await statusFor('Python/3.11 aiohttp/3.9.1')).toBe('FAILED');
    expect(await statusFor('RunPod-JS-SDK/1.1.2 (node)')).toBe('CANCELLED');
    expect((await client.status(id)).body.status).toBe('CANCELLED');
  });

  test('holds an empty stream until a chunk comes', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    const held = client.call(`/stream/${id}?format=object&wait=120000`);
    await agent.chunk(job, 0, chunk('first'));

    expect((await held).body).toEqual({ status: 'IN_PROGRESS', stream: [{ output: 'first', metrics: {} }] });
  });

  test('a failed job gives what there is, then nothing, with its error', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk('half'));
    await agent.done(job, { kind: 'failed', error: 'generator broke', output: null }, 1);
    const path = object(`/stream/${id}`);

    expect((await client.call(path)).body).toEqual({
      status: 'FAILED',
      stream: [{ output: 'half', metrics: {} }],
      error: 'generator broke',
    });
    expect((await client.call(path)).body).toEqual({ status: 'FAILED', stream: [], error: 'generator broke' });
  });

  test('chunks of an attempt that was lost are not shown, and those of a late host are dropped', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const lost = await agent.takeOne();
    await agent.chunk(lost, 0, chunk('old'));
    await agent.done(lost, { kind: 'lost', reason: 'drained', isCharged: false });
    const job = await agent.takeOne();
    expect(await agent.chunk(lost, 1, chunk('older'))).toEqual({ outcome: 'superseded' });
    await agent.chunk(job, 0, chunk('new'));
    await agent.done(job, { kind: 'completed', output: null }, 1);

    expect((await client.call(object(`/stream/${id}`))).body.stream).toEqual([{ output: 'new', metrics: {} }]);
  });

  test('a stream longer than one answer comes in several, complete and in order', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    const count = 300;
    for (let from = 0; from < count; from += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, n) => agent.chunk(job, from + n, chunk(from + n))));
    }
    await agent.done(job, { kind: 'completed', output: null }, count);
    const outputs: number[] = [];
    let status = '';
    while (status !== 'COMPLETED') {
      const { body } = await client.call(object(`/stream/${id}`));
      status = body.status as string;
      outputs.push(...(body.stream as { output: number }[]).map(({ output }) => output));
    }
    expect(outputs).toEqual(Array.from({ length: count }, (_, n) => n));
  });

  test('a reader that breaks off before the answer reached it loses no chunk', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const gone = new AbortController();
    const held = client.call(`/stream/${id}?format=object&wait=120000`, { signal: gone.signal }).catch(() => 'aborted');
    const job = await agent.takeOne();
    gone.abort();
    expect(await held).toBe('aborted');
    await agent.chunk(job, 0, chunk('kept'));

    expect((await client.call(object(`/stream/${id}`))).body.stream).toEqual([{ output: 'kept', metrics: {} }]);
  });
});
