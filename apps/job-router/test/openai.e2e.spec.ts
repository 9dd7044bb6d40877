import { connect } from 'node:net';
import type { DoneResult } from '@berth/contracts';
import { encodeJson, toRawJson, type RawJson } from '@berth/domain';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import type { Answer } from './bench/job-client.js';
import { RouterBench } from './bench/router-bench.js';
import { completed, type ScriptedAgent } from './bench/scripted-agent.js';

const bench = new RouterBench();
const CHAT = '/openai/v1/chat/completions';
const chunk = (output: unknown): RawJson => toRawJson(JSON.stringify({ output }));
const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const failed = (error: string) => ({ kind: 'failed', error, output: null }) as const;

async function answerWith(agent: ScriptedAgent, result: DoneResult): Promise<void> {
  await agent.done(await agent.takeOne(), result);
}

const expectError = ({ body, headers, status }: Answer, expected: number, code: unknown): void => {
  expect([status, body.error.code]).toEqual([expected, code]);
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type']);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
};

describe('a request that wants one answer', () => {
  test('becomes a job with the body as it came, and is answered by the first item of its list', async () => {
    const { client, agent } = await bench.scene();
    const body = '{ "model":"m","seed":12345678901234567890, "messages":[] }';
    const asked = client.post(CHAT, body);
    const job = await agent.takeOne();
    expect(await agent.inputOf(job)).toBe(`{"openai_route":"/v1/chat/completions","openai_input":${body}}`);
    expect(job.jobId).toMatch(/^sync-/);
    await agent.done(job, { kind: 'completed', output: { kind: 'inline', json: toRawJson('[ {"id":1.0} ]') } });
    const answer = await asked;
    expect([answer.status, answer.text]).toEqual([200, '{"id":1.0}']);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('berth-job-id')).toBe(job.jobId);
  });

  test('by GET has no openai_input; an output that is no list is the answer', async () => {
    const { client, agent } = await bench.scene();
    const asked = client.call('/openai/v1/models');
    const job = await agent.takeOne();
    expect(await agent.inputOf(job)).toBe('{"openai_route":"/v1/models"}');
    await agent.complete(job, { object: 'list', data: [] });
    expect((await asked).body).toEqual({ object: 'list', data: [] });
  });

  test('of a generator that keeps no list is answered by its first chunk', async () => {
    const { client, agent } = await bench.scene();
    const asked = client.post(CHAT, {});
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk({ id: 'a' }));
    await agent.done(job, completed([]), 1);
    expect((await asked).body).toEqual({ id: 'a' });
  });

  test('larger than a message comes whole', async () => {
    const { client, agent } = await bench.scene();
    const asked = client.post(CHAT, { prompt: 'p'.repeat(3_000_000) });
    const job = await agent.takeOne();
    expect((await agent.inputOf(job)).length).toBeGreaterThan(3_000_000);
    await agent.completeWith(job, encodeJson([{ text: 'x'.repeat(2_000_000) }]));
    expect((await asked).body.text).toHaveLength(2_000_000);
  });

  test.each([
    ['boom', 500, null],
    [
      'vLLM returned HTTP 404: {"error":{"message":"no model","type":"NotFoundError","param":null,"code":404}}',
      404,
      404,
    ],
    ['vLLM returned HTTP 429: later', 429, 429],
  ])('that fails with %s is %i', async (error, status, code) => {
    const { client, agent } = await bench.scene();
    const asked = client.post(CHAT, {});
    await answerWith(agent, failed(error));
    expectError(await asked, status, code);
  });

  test('has the status that an error object as output names', async () => {
    const { client, agent } = await bench.scene();
    const asked = client.post(CHAT, {});
    await answerWith(agent, completed([{ object: 'error', message: 'too long', type: 'BadRequestError', code: 400 }]));
    expectError(await asked, 400, 400);
    const late = client.post(CHAT, {});
    await answerWith(agent, { kind: 'timed-out' });
    expectError(await late, 504, 'execution_timeout');
  });

  test('whose caller goes away is cancelled', async () => {
    const { client, agent } = await bench.scene();
    const gone = new AbortController();
    const asked = client.post(CHAT, {}, { signal: gone.signal }).catch(() => 'aborted');
    const job = await agent.takeOne();
    gone.abort();
    expect(await asked).toBe('aborted');
    await eventually(async () => expect((await client.status(job.jobId)).body.status).toBe('CANCELLED'));
    await eventually(() => expect(agent.stops.map(({ jobId }) => jobId)).toEqual([job.jobId]));
  });

  test('that somebody cancels is told so', async () => {
    const { client, agent } = await bench.scene();
    const asked = client.post(CHAT, {});
    const job = await agent.takeOne();
    await client.call(`/cancel/${job.jobId}`, { method: 'POST' });
    expectError(await asked, 410, 'job_cancelled');
  });
});

describe('a request that wants a stream', () => {
  const stream = { stream: true };

  /** What arrives, piece by piece as it comes. */
  const open = async (scene: Awaited<ReturnType<RouterBench['scene']>>) => {
    const response = await fetch(`${bench.router.url}/v2/${scene.endpointId}${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${scene.tenant.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(stream),
    });
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    const next = async (): Promise<string | null> => {
      const { done, value } = await reader.read();
      return done ? null : decoder.decode(value, { stream: true });
    };
    return { response, next, cancel: () => reader.cancel() };
  };

  test('gets raw text as it comes, each piece before the next is made', async () => {
    const scene = await bench.scene();
    const opening = open(scene);
    const job = await scene.agent.takeOne();
    const texts = ['data: {"n":1}\n\nda', 'ta: {"n":2}\n', '\n', 'data: [DONE]\n\n'];
    let reading: Awaited<ReturnType<typeof open>> | undefined;
    for (const [index, text] of texts.entries()) {
      await scene.agent.chunk(job, index, chunk(text));
      reading ??= await opening;
      expect(await reading.next()).toBe(text);
    }
    await scene.agent.done(job, completed(texts), texts.length);
    expect(await reading?.next()).toBeNull();
    expect(reading?.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(reading?.response.headers.get('x-accel-buffering')).toBe('no');
  });

  test('gets objects and lists of them as events, with the end marked', async () => {
    const { client, agent } = await bench.scene();
    const asked = client.post(CHAT, stream);
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk([{ n: 1 }, { n: 2 }]));
    await agent.chunk(job, 1, chunk({ n: 3 }));
    await agent.done(job, completed([]), 2);
    const expected = [{ n: 1 }, { n: 2 }, { n: 3 }].map(frame).join('');
    expect((await asked).text).toBe(`${expected}data: [DONE]\n\n`);
  });

  test('is answered 200 like every other, not as if it had made something', async () => {
    const scene = await bench.scene();
    const opening = open(scene);
    const job = await scene.agent.takeOne();
    await scene.agent.chunk(job, 0, chunk('data: {}\n\n'));
    const { response, cancel } = await opening;
    expect(response.status).toBe(200);
    await cancel();
  });

  test('of a worker that does not stream gets its output', async () => {
    const { client, agent } = await bench.scene();
    const asked = client.post(CHAT, stream);
    await answerWith(agent, completed({ n: 1 }));
    expect((await asked).text).toBe(`${frame({ n: 1 })}data: [DONE]\n\n`);
  });

  test('that fails before its first byte has a status of its own', async () => {
    const { client, agent } = await bench.scene();
    const asked = client.post(CHAT, stream);
    await answerWith(agent, failed('vLLM returned HTTP 400: bad'));
    expectError(await asked, 400, 400);
    const object = client.post(CHAT, stream);
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk([{ object: 'error', message: 'no model', code: 404 }]));
    expectError(await object, 404, 404);
    await eventually(async () => expect((await client.status(job.jobId)).body.status).toBe('CANCELLED'));
  });

  test('that fails later says so in an event, also within one that is not whole', async () => {
    const { client, agent } = await bench.scene();
    const asked = client.post(CHAT, stream);
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk('data: {"n":1'));
    await agent.done(job, failed('out of memory'), 1);
    const failure = { error: { message: 'out of memory', type: 'worker_error', code: null, param: null } };
    expect((await asked).text).toBe(`data: {"n":1\n\n${frame(failure)}`);
  });

  test('goes on with another attempt while nothing has been sent, and ends when something has', async () => {
    const { client, agent } = await bench.scene();
    const asked = client.post(CHAT, stream);
    await agent.done(await agent.takeOne(), { kind: 'lost', reason: 'drained', isCharged: false });
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk('data: 1\n\n'));
    await agent.done(job, { kind: 'lost', reason: 'drained', isCharged: false }, 1);
    const { text } = await asked;
    expect(text.startsWith('data: 1\n\ndata: {"error":')).toBe(true);
    expect(text).toContain('"worker_lost"');
    await eventually(async () => expect((await client.status(job.jobId)).body.status).toBe('CANCELLED'));
  });

  test('whose reader closes it is cancelled', async () => {
    const scene = await bench.scene();
    const opening = open(scene);
    const job = await scene.agent.takeOne();
    await scene.agent.chunk(job, 0, chunk('data: 1\n\n'));
    const reading = await opening;
    await reading.next();
    await reading.cancel();
    await eventually(async () => expect((await scene.client.status(job.jobId)).body.status).toBe('CANCELLED'));
  });
});

describe('every refusal is in the words of the interface', () => {
  const FORM = 'multipart/form-data; boundary=x';

  test.each([
    ['no key', { authorization: '' }, 'missing_api_key'],
    ['a wrong key', { authorization: 'Bearer bk_nope' }, 'invalid_api_key'],
    ['another body than JSON', { 'content-type': FORM }, 'unsupported_media_type'],
  ])('%s', async (...[, headers, code]) => {
    const { client } = await bench.scene();
    const status = code === 'unsupported_media_type' ? 415 : 401;
    expectError(await client.post('/openai/v1/audio/transcriptions', '--x--', { headers }), status, code);
  });

  test('bodies, scopes, endpoints, verbs and sizes', async () => {
    const { client, tenant } = await bench.scene();
    expectError(await client.post(CHAT, '{"a":'), 400, 'body_not_json');
    expectError(await client.post(CHAT, '[]'), 400, 'invalid_job_request');
    expectError(await client.call(CHAT, { method: 'PUT' }), 405, 'method_not_allowed');
    expectError(await client.call('/openai'), 404, 'route_not_found');
    const reading = await bench.controlPlane.tenant({ accountId: tenant.accountId, scopes: ['jobs:read'] });
    const endpointId = await bench.controlPlane.endpoint(tenant.accountId);
    expectError(await bench.client(endpointId, reading).call('/openai/v1/models'), 403, 'scope_missing');
    expectError(await bench.client('none' as never, tenant).post(CHAT, {}), 404, 'endpoint_not_found');
    const balanced = await bench.controlPlane.endpoint(tenant.accountId, { type: 'LOAD_BALANCER' });
    expectError(await bench.client(balanced, tenant).post(CHAT, {}), 400, 'wrong_endpoint_type');
    const large = await client.post(CHAT, `{"x":"${'x'.repeat(20 * 1024 ** 2)}"}`);
    expectError(large, 413, 'body_too_large');
  });

  test('a body of 20 MiB is taken', async () => {
    const { client, agent } = await bench.scene();
    const body = `{"x":"${'x'.repeat(20 * 1024 ** 2 - 8)}"}`;
    const asked = client.post(CHAT, body);
    await answerWith(agent, completed([{ ok: true }]));
    expect((await asked).body).toEqual({ ok: true });
  });

  test('a caller that is cut off leaves nothing open', async () => {
    const { endpointId, tenant } = await bench.scene();
    const { hostname, port } = new URL(bench.router.url);
    const socket = connect(Number(port), hostname);
    const body = '{"stream":true}';
    socket.write(
      `POST /v2/${endpointId}${CHAT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${tenant.key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const open = async (): Promise<string> =>
      (await (await fetch(`http://127.0.0.1:${bench.router.operationsPort}/metrics`)).text())
        .split('\n')
        .find((line) => line.startsWith('berth_router_openai_open_requests '))!;
    await eventually(async () => expect(await open()).toBe('berth_router_openai_open_requests 1'));
    socket.destroy();
    await eventually(async () => expect(await open()).toBe('berth_router_openai_open_requests 0'));
  });
});
