import { CHUNK_MAX_BYTES, encodeJson, type RawJson } from '@berth/domain';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { Answer } from './bench/job-client.js';
import { RouterBench, type Scene } from './bench/router-bench.js';
import { REQUEST_CASES } from './fixtures/job-requests.js';

const bench = new RouterBench();
const RUN_MAX_BYTES = 10 * 1_024 * 1_024;
const RUNSYNC_MAX_BYTES = 20 * 1_024 * 1_024;
const LARGE_MS = 240_000;
let scene: Scene;

beforeAll(async () => {
  scene = await bench.scene();
});

interface Refusal {
  readonly status?: number;
  readonly code: string;
  /** What the detail must say. */
  readonly says?: RegExp;
}

const TOO_LARGE: Refusal = { status: 413, code: 'body-too-large' };
const BAD_WAIT: Refusal = { code: 'invalid-query', says: /wait: must be an integer from 1000 to 300000/ };

const expectRefused = (answer: Answer, { status = 400, code, says = /./ }: Refusal): void => {
  expect([answer.status, answer.text.slice(0, 500)]).toEqual([status, expect.stringContaining(`/problems/${code}`)]);
  expect(answer.body.detail).toMatch(says);
  expect(answer.body.error).toBe(answer.body.detail);
};

describe.each(Object.entries(REQUEST_CASES))('a job request: %s', (_group, cases) => {
  test.each(cases.map((each) => [each.what, each] as const))('%s', async (_what, { body, refused }) => {
    const answer = await scene.client.post('/run', body);
    if (refused === undefined) {
      expect([answer.status, answer.body.status]).toEqual([200, 'IN_QUEUE']);
      return;
    }
    expectRefused(answer, refused);
    expectRefused(await scene.client.post('/runsync', body), refused);
  });
});

test('members that nobody knows reach the worker as they came, in their order and with their numbers', async () => {
  const { agent, client } = await bench.scene();
  const extras = '{"z":1.0,"note":"\\u00e9","a":12345678901234567890,"webhookV2":"x"}';
  await client.post('/run', `{"input":{"n":1.50},${extras.slice(1)}`);
  expect(await agent.takeOne()).toMatchObject({ extras, input: { kind: 'inline', json: '{"n":1.50}' } });
});

describe('the size of a body', () => {
  const bodyOf = (bytes: number, letter = 'x'): string => {
    const left = bytes - '{"input":{"s":""}}'.length;
    const letters = Math.floor(left / Buffer.byteLength(letter));
    return `{"input":{"s":"${letter.repeat(letters)}${'x'.repeat(left - letters * Buffer.byteLength(letter))}"}}`;
  };
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

  test.each([
    ['/run', 'x', RUN_MAX_BYTES],
    ['/run', '語', RUN_MAX_BYTES],
    ['/runsync?wait=1000', 'x', RUNSYNC_MAX_BYTES],
  ])(
    '%s takes in letters of %s %d bytes, whole, and not one more',
    async (path, letter, limit) => {
      const { agent, client } = await bench.scene();
      expectRefused(await client.post(path, bodyOf(limit + 1, letter)), TOO_LARGE);
      const body = bodyOf(limit, letter);
      expect(Buffer.byteLength(body)).toBe(limit);
      expect((await client.post(path, body)).body).toMatchObject({ status: 'IN_QUEUE' });
      const input = await agent.inputOf(await agent.takeOne());
      expect(sha256(input)).toBe(sha256(body.slice('{"input":'.length, -1)));
    },
    LARGE_MS,
  );

  test(
    'is counted also where nobody announces it',
    async () => {
      const send = (bytes: number): Promise<number> =>
        new Promise((resolve, reject) => {
          const headers = {
            authorization: `Bearer ${scene.tenant.key}`,
            'content-type': 'application/json',
            'transfer-encoding': 'chunked',
          };
          const url = `${bench.router.url}/v2/${scene.endpointId}/run`;
          const sent = httpRequest(url, { method: 'POST', headers }, (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
          });
          sent.on('error', reject);
          sent.end(bodyOf(bytes));
        });
      expect(await send(RUN_MAX_BYTES)).toBe(200);
      expect(await send(RUN_MAX_BYTES + 1)).toBe(413);
    },
    LARGE_MS,
  );

  test('of paths that need none is small', async () => {
    const id = await scene.client.run({});
    expectRefused(await scene.client.post(`/cancel/${id}`, 'x'.repeat(1_024 * 1_024 + 1)), TOO_LARGE);
  });
});

describe('a stream chunk', () => {
  const chunkOf = (bytes: number): RawJson =>
    `{"output":"${'x'.repeat(bytes - '{"output":""}'.length)}"}` as unknown as RawJson;

  test('may have 1,000,000 bytes, and not one more', async () => {
    const { agent, client } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    expect(await agent.chunk(job, 0, chunkOf(CHUNK_MAX_BYTES))).toEqual({ outcome: 'recorded' });
    await expect(agent.chunk(job, 1, chunkOf(CHUNK_MAX_BYTES + 1))).rejects.toMatchObject({ code: 'invalid-fields' });
    const { body } = await client.call(`/stream/${id}?format=array`);
    expect(body).toHaveLength(1);
    expect(body[0].output).toHaveLength(CHUNK_MAX_BYTES - '{"output":""}'.length);
  });
});

describe('wait', () => {
  const refuses = async (path: string, method: string, wait: string): Promise<void> => {
    const body = method === 'POST' ? { body: '{"input":{}}', headers: { 'content-type': 'application/json' } } : {};
    const answer = await scene.client.call(`${path}?wait=${encodeURIComponent(wait)}`, { method, ...body });
    expectRefused(answer, BAD_WAIT);
  };

  test.each([
    '999',
    '300001',
    '0',
    '-1000',
    '1000.5',
    '1e3',
    '0x3e8',
    'soon',
    ' 1000',
    '1000ms',
    '99999999999999999999',
  ])('%j is refused, wherever it is taken', async (wait) => {
    const id = await scene.client.run({});
    await refuses('/runsync', 'POST', wait);
    await refuses(`/status-sync/${id}`, 'GET', wait);
    await refuses(`/status-sync/${id}`, 'POST', wait);
    await refuses(`/stream/${id}`, 'GET', wait);
  });

  test.each(['1000', '300000'])('%s is taken', async (wait) => {
    const id = await scene.client.run({});
    await scene.client.call(`/cancel/${id}`, { method: 'POST' });
    for (const path of [`/status-sync/${id}`, `/stream/${id}`]) {
      expect((await scene.client.call(`${path}?wait=${wait}`)).status).toBe(200);
    }
  });

  test('given twice is refused', async () => {
    const answer = await scene.client.post('/runsync?wait=1000&wait=2000', { input: {} });
    expectRefused(answer, BAD_WAIT);
  });
});

test('times are integers in every state and on every path', async () => {
  const { agent, client } = await bench.scene();
  const expectIntegers = ({ body }: Answer, status: string): void => {
    expect(body.status).toBe(status);
    for (const time of [body.delayTime, body.executionTime]) {
      expect([time, Number.isSafeInteger(time) && time >= 0]).toEqual([time, true]);
    }
  };
  const everywhere = async (id: string, status: string): Promise<void> => {
    expectIntegers(await client.status(id), status);
    expectIntegers(await client.call(`/status-sync/${id}?wait=1000`), status);
  };
  const id = await client.run({});
  await everywhere(id, 'IN_QUEUE');
  const job = await agent.takeOne();
  await everywhere(id, 'IN_PROGRESS');
  await agent.complete(job, {});
  await everywhere(id, 'COMPLETED');

  const failing = await client.run({});
  await agent.done(await agent.takeOne(), { kind: 'failed', error: 'no', output: null });
  await everywhere(failing, 'FAILED');
  const late = await client.run({});
  await agent.done(await agent.takeOne(), { kind: 'timed-out' });
  await everywhere(late, 'TIMED_OUT');
  const cancelled = await client.run({});
  await client.call(`/cancel/${cancelled}`, { method: 'POST' });
  await everywhere(cancelled, 'CANCELLED');

  agent.serve(async () => ({ kind: 'completed', output: { kind: 'inline', json: encodeJson(1) } }));
  expectIntegers(await client.post('/runsync', { input: {} }), 'COMPLETED');
});
