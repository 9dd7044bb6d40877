import { readFile } from 'node:fs/promises';
import { toRawJson } from '@berth/domain';
import type { ApiDocument } from '@berth/http';
import { eventually } from '@berth/testing';
import { ContractChecker, type CheckedExchange } from '@berth/testing/contract';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { CallOptions, JobClient } from './bench/job-client.js';
import { RouterBench, type Scene } from './bench/router-bench.js';
import { completed } from './bench/scripted-agent.js';

const bench = new RouterBench({ environment: { BERTH_RATE_LIMITS: 'on' } });
const CHAT = '/openai/v1/chat/completions';
const FILE = new URL('../../../docs/wire/job-openapi.json', import.meta.url);

let contract: ContractChecker;

beforeAll(async () => {
  contract = new ContractChecker(JSON.parse(await readFile(FILE, 'utf8')) as ApiDocument);
});

type Call = Omit<CallOptions, 'signal'> & { readonly path: string; readonly status: number };

/** Calls, and compares what went over the wire with the description. */
async function told(client: JobClient, { path, status, ...options }: Call): Promise<CheckedExchange> {
  const { body: sent, method = 'GET' } = options;
  const headers = sent === undefined ? options.headers : { 'content-type': 'application/json', ...options.headers };
  const answer = await client.call(path, { ...options, ...(headers === undefined ? {} : { headers }) });
  const exchange = { method, path: `/v2/endpoint${path}`, sent, ...answer, received: answer.text };
  contract.check(exchange);
  expect([path, answer.status, answer.text]).toEqual([path, status, answer.text]);
  return exchange;
}

const post = (path: string, status: number, body?: unknown): Call => ({
  path,
  status,
  method: 'POST',
  ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
});
const get = (path: string, status = 200, headers: Readonly<Record<string, string>> = {}): Call => ({
  path,
  status,
  headers,
});

/** A job that is done, with a chunk. */
async function doneJob({ agent, client }: Scene): Promise<string> {
  const id = await client.run({ a: 1 });
  const job = await agent.takeOne();
  await agent.chunk(job, 0, toRawJson('{"output":"a","more":1}'));
  await agent.done(job, completed({ sum: 3 }), 1);
  return id;
}

describe('what a running router answers is as described', () => {
  test('of one job, from its submission to its end', async () => {
    const scene = await bench.scene();
    const { agent, client } = scene;
    const accepted = await told(client, post('/run', 200, { input: {}, policy: { ttl: 60_000 }, note: 1 }));
    const { id } = JSON.parse(accepted.received) as { id: string };
    await told(client, get(`/status/${id}`));
    await told(client, get(`/status/${id}?ttl=60000`));
    await told(client, get(`/requests/${id}`));
    await told(client, get('/requests'));
    const job = await agent.takeOne();
    await told(client, post(`/status/${id}`, 200));
    await agent.complete(job, { sum: 3 });
    await told(client, get(`/status/${id}`));
    await told(client, get(`/status-sync/${id}?wait=1000`));
    await told(client, post(`/status-sync/${id}`, 200));
    await told(client, get(`/requests/${id}`));
    await told(client, get(`/webhooks/${id}`));
    await told(client, post(`/cancel/${id}`, 200));
    await told(client, post(`/retry/${id}`, 409));
  });

  test('of runsync, of a name that comes again, and of a job that is tried again', async () => {
    const { agent, client } = await bench.scene();
    await told(client, post('/runsync?wait=1000', 200, { input: {} }));
    await agent.done(await agent.takeOne(), { kind: 'failed', error: 'boom', output: null });
    const named = { 'idempotency-key': 'once' };
    const first = await told(client, { ...post('/run', 200, { input: { b: 1 } }), headers: named });
    const again = await told(client, { ...post('/run', 200, { input: { b: 1 } }), headers: named });
    expect([again.received, again.headers.get('idempotency-replayed')]).toEqual([first.received, 'true']);
    await told(client, { ...post('/run', 409, { input: { b: 2 } }), headers: named });
    const { id } = JSON.parse(first.received) as { id: string };
    await agent.done(await agent.takeOne(), { kind: 'failed', error: 'boom', output: null });
    await told(client, get(`/status/${id}`));
    await told(client, get(`/requests?status=FAILED&limit=1`));
    await told(client, post(`/retry/${id}`, 200));
  });

  test('of a list of jobs, of the queue and of what may be counted', async () => {
    const { client } = await bench.scene();
    await told(client, post('/run-batch', 200, { requests: [{ input: {} }, { input: {}, policy: null }] }));
    await told(client, get('/health'));
    await told(client, post('/purge-queue', 200));
    await told(client, get('/requests?limit=1'));
  });

  test('of a stream in each rendering', async () => {
    const scene = await bench.scene();
    const { client } = scene;
    const path = `/stream/${await doneJob(scene)}`;
    await told(client, get(`${path}?format=array&cursor=a0-0`));
    await told(client, get(`${path}?format=object&cursor=a0-0`));
    await told(client, post(`${path}?wait=1000`, 200));
    const events = await told(client, get(path, 200, { accept: 'text/event-stream' }));
    const end = /id: (a1-\d+-end)/.exec(events.received)?.[1] ?? '';
    await told(client, get(path, 204, { accept: 'text/event-stream', 'last-event-id': end }));
    await told(client, get(`${path}?format=table`, 400));
    await told(client, get(path, 400, { 'last-event-id': 'x' }));
  });

  test('of what clients of OpenAI ask, and of its failures', async () => {
    const { agent, client } = await bench.scene();
    const whole = told(client, post(CHAT, 200, { model: 'm' }));
    await agent.done(await agent.takeOne(), completed([{ id: 'a' }]));
    await whole;
    const models = told(client, get('/openai/v1/models'));
    await agent.done(await agent.takeOne(), completed({ object: 'list', data: [] }));
    await models;
    const streamed = told(client, post(CHAT, 200, { stream: true }));
    const job = await agent.takeOne();
    await agent.chunk(job, 0, toRawJson('{"output":"data: {}\\n\\n"}'));
    await agent.done(job, completed([]), 1);
    await streamed;
    const failed = told(client, post(CHAT, 422, {}));
    await agent.done(await agent.takeOne(), {
      kind: 'failed',
      error: 'vLLM returned HTTP 422: {"message":"no","type":"t","code":422}',
      output: null,
    });
    await failed;
    await told(client, post(CHAT, 400, '{'));
  });

  test('of requests that are refused', async () => {
    const { client, endpointId } = await bench.scene();
    const nobody = bench.client(endpointId, { ...(await bench.controlPlane.tenant()), key: 'wrong' });
    const stranger = bench.client(endpointId, await bench.controlPlane.tenant());
    for (const path of ['/run', '/runsync', '/run-batch']) {
      await told(client, post(path, 400, '{'));
      await told(client, post(path, 400, {}));
      await told(client, { ...post(path, 415, '{}'), headers: { 'content-type': 'text/csv' } });
      await told(client, get(path, 405));
    }
    for (const path of ['/status/x', '/status-sync/x', '/stream/x', '/webhooks/x']) await told(client, get(path, 404));
    // Nobody keeps a history here, and only the history knows that there never was such a job.
    await told(client, get('/requests/x', 503));
    for (const path of ['/cancel/x', '/retry/x']) await told(client, post(path, 404));
    await told(client, post('/runsync?wait=1', 400, { input: {} }));
    await told(client, get('/status/x?ttl=1', 400));
    await told(client, get('/requests?limit=101', 400));
    for (const path of ['/health', '/status/x', '/stream/x', '/requests', '/openai/v1/models']) {
      await told(nobody, get(path, 401));
      await told(stranger, get(path, 404));
    }
  });

  test('of keys that may not, of bodies that are too large, and of too many calls', async () => {
    const { client, endpointId, tenant } = await bench.scene();
    const reader = bench.client(
      endpointId,
      await bench.controlPlane.tenant({ accountId: tenant.accountId, scopes: [] }),
    );
    for (const path of ['/run', '/runsync', '/run-batch', '/purge-queue', '/cancel/x', '/retry/x', CHAT]) {
      await told(reader, post(path, 403, {}));
    }
    for (const path of ['/health', '/requests', '/requests/x', '/status/x', '/stream/x', '/webhooks/x']) {
      await told(reader, get(path, 403));
    }
    await told(client, post('/run', 413, `{"input":{"a":"${'x'.repeat(11 * 2 ** 20)}"}}`));
    for (const path of ['/cancel/x', '/stream/x', '/openai/v1/models']) {
      await told(client, { ...get(path, 405), method: 'PATCH' });
    }
    await told(client, { ...post(CHAT, 415, 'a'), headers: { 'content-type': 'text/csv' } });
    // Workers raise the limit, and the router hears at some time that there is none.
    await bench.controlPlane.assign(endpointId, []);
    await eventually(() => told(client, post('/purge-queue', 429)));
  });
});
