import type { AccountId, EndpointId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { makeApiKey } from '@berth/http';
import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { JobClient, type Answer } from './bench/job-client.js';
import { RouterBench, type Scene } from './bench/router-bench.js';

const bench = new RouterBench({ environment: { BERTH_BASE_URL: 'https://api.example.com' } });
const MIB = 1024 * 1024;
/** A push takes an instant; a busy machine may take its time. */
const TOLD_WITHIN_MS = 90_000;
let scene: Scene;

beforeAll(async () => {
  scene = await bench.scene();
});

/** The shape of every error of a job path: no integer `status`, and the detail where the SDKs look for it. */
const expectProblem = (answer: Answer, status: number, code: string): void => {
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(answer.body).toMatchObject({
    type: expect.stringMatching(new RegExp(`/problems/${code}$`)),
    title: expect.any(String),
    detail: expect.any(String),
    error: answer.body.detail,
  });
  expect(answer.body).not.toHaveProperty('status');
};

describe('a job request that is refused', () => {
  test.each([
    ['no body', '', 'body-not-json', ''],
    ['half a body', '{"input":', 'body-not-json', ''],
    ['a list', '[]', 'invalid-job-request', '$: must be an object'],
    ['no input', '{}', 'invalid-job-request', '$.input: is required'],
    ['input null', '{"input":null}', 'invalid-job-request', '$.input: must be an object'],
    ['input a text', '{"input":"x"}', 'invalid-job-request', '$.input: must be an object'],
    ['input a list', '{"input":[1]}', 'invalid-job-request', '$.input: must be an object'],
    ['a timeout below the bound', '{"input":{},"policy":{"executionTimeout":4999}}', 'invalid-job-request', '5000'],
    [
      'a timeout above the bound',
      '{"input":{},"policy":{"executionTimeout":604800001}}',
      'invalid-job-request',
      '604800000',
    ],
    ['a TTL below the bound', '{"input":{},"policy":{"ttl":9999}}', 'invalid-job-request', '10000'],
    ['a TTL above the bound', '{"input":{},"policy":{"ttl":604800001}}', 'invalid-job-request', '604800000'],
    ['a TTL that is no integer', '{"input":{},"policy":{"ttl":10000.5}}', 'invalid-job-request', 'integer'],
    ['a webhook that is no URL', '{"input":{},"webhook":"here"}', 'invalid-job-request', 'http'],
    ['a webhook of another scheme', '{"input":{},"webhook":"file:///etc/passwd"}', 'invalid-job-request', 'http'],
  ])('%s', async (...row) => {
    const [, body, code, text] = row;
    for (const path of ['/run', '/runsync']) {
      const answer = await scene.client.post(path, body);
      expectProblem(answer, 400, code);
      expect(answer.body.detail).toContain(text);
    }
  });

  test('bytes that are no UTF-8', async () => {
    const response = await fetch(`${bench.router.url}/v2/${scene.endpointId}/run`, {
      method: 'POST',
      headers: { authorization: scene.tenant.key, 'content-type': 'application/json' },
      body: Buffer.concat([Buffer.from('{"input":{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}}')]),
    });
    expect(response.status).toBe(400);
  });

  test.each([
    ['/run', 10 * MIB],
    ['/runsync', 20 * MIB],
  ])(
    '%s takes %d bytes and not one more',
    async (path, limit) => {
      const bodyOf = (size: number): string => `{"input":{"s":"${'x'.repeat(size - '{"input":{"s":""}}'.length)}"}}`;
      expectProblem(await scene.client.post(path, bodyOf(limit + 1)), 413, 'body-too-large');
      const accepted = await scene.client.post(path === '/run' ? path : `${path}?wait=1000`, bodyOf(limit));
      expect(accepted.status).toBe(200);
    },
    30_000,
  );

  test.each(['999', '300001', 'soon', '1.5', '-1'])('wait=%s', async (wait) => {
    const answer = await scene.client.post(`/runsync?wait=${wait}`, { input: {} });
    expectProblem(answer, 400, 'invalid-query');
    expect(answer.body.detail).toMatch(/1000.*300000/);
  });
});

describe('a caller who is refused', () => {
  const as = (authorization: string | undefined, path = '/health'): Promise<Response> =>
    fetch(`${bench.router.url}/v2/${scene.endpointId}${path}`, {
      headers: authorization === undefined ? {} : { authorization },
    });

  test('no key, a malformed key, an unknown key, an expired one: 401', async () => {
    const expired = await bench.controlPlane.tenant({ accountId: scene.tenant.accountId, expiresAtMs: 1 });
    for (const header of [
      undefined,
      'Bearer ',
      'Bearer nonsense',
      `Bearer ${makeApiKey(systemRandom).key}`,
      `Bearer ${expired.key}`,
    ]) {
      const response = await as(header);
      expect(response.status).toBe(401);
      expect(await response.json()).not.toHaveProperty('status');
    }
  });

  test('a key is taken with and without the Bearer scheme', async () => {
    expect((await as(`Bearer ${scene.tenant.key}`)).status).toBe(200);
    expect((await as(scene.tenant.key)).status).toBe(200);
  });

  test('a key without the scope, or limited to other endpoints: 403', async () => {
    const { accountId } = scene.tenant;
    const reader = await bench.controlPlane.tenant({ accountId, scopes: ['jobs:read'] });
    const other = await bench.controlPlane.tenant({ accountId, endpointIds: ['elsewhere' as EndpointId] });

    expectProblem(await bench.client(scene.endpointId, reader).post('/run', { input: {} }), 403, 'scope-missing');
    expect((await bench.client(scene.endpointId, reader).call('/health')).status).toBe(200);
    expectProblem(await bench.client(scene.endpointId, other).call('/health'), 403, 'scope-missing');
  });

  test('a key works the moment it is written, and is refused soon after its removal', async () => {
    const tenant = await bench.controlPlane.tenant({ accountId: scene.tenant.accountId });
    const client = bench.client(scene.endpointId, tenant);
    expect((await client.call('/health')).status).toBe(200);
    await bench.controlPlane.revokeKey(tenant.key);
    await eventually(
      async () => {
        expect((await client.call('/health')).status).toBe(401);
      },
      { deadlineMs: TOLD_WITHIN_MS },
    );
  });
});

describe('an id that is refused', () => {
  test('unknown, foreign and deleted endpoints give the same 404', async () => {
    const foreign = await bench.scene();
    const deleted = await bench.controlPlane.endpoint(scene.tenant.accountId, { isDeleted: true });
    const answers = await Promise.all(
      ['unknown', foreign.endpointId, deleted].map((id) =>
        bench.client(id as EndpointId, scene.tenant).post('/run', { input: {} }),
      ),
    );
    for (const answer of answers) expectProblem(answer, 404, 'endpoint-not-found');
    expect(new Set(answers.map(({ body }) => String(body.detail))).size).toBe(1);
  });

  test('an endpoint works the moment it is written, and is 404 soon after its deletion', async () => {
    const { accountId } = scene.tenant;
    const id = await bench.controlPlane.endpoint(accountId);
    const client = bench.client(id, scene.tenant);
    expect((await client.post('/run', { input: {} })).status).toBe(200);
    await bench.controlPlane.endpoint(accountId, { id, isDeleted: true });
    await eventually(
      async () => {
        expect((await client.post('/run', { input: {} })).status).toBe(404);
      },
      { deadlineMs: TOLD_WITHIN_MS },
    );
  });

  test('unknown, foreign and malformed job ids give the same 404 on every path', async () => {
    const other = await bench.scene();
    const foreign = await other.client.run({});
    const details = new Set<string>();
    for (const id of ['00000000-0000-4000-8000-000000000000', foreign, 'a.b', '*', '%3E', 'x'.repeat(200)]) {
      for (const [method, path] of [
        ['GET', 'status'],
        ['POST', 'status'],
        ['GET', 'status-sync'],
        ['GET', 'stream'],
        ['POST', 'cancel'],
      ] as const) {
        const answer = await scene.client.call(`/${path}/${id}`, { method });
        expectProblem(answer, 404, 'job-not-found');
        details.add(answer.body.detail);
      }
    }
    expect(details.size).toBe(1);
    expect((await other.client.status(foreign)).status).toBe(200);
  });

  test('a load-balancer endpoint has no jobs, but health', async () => {
    const id = await bench.controlPlane.endpoint(scene.tenant.accountId, { type: 'LOAD_BALANCER' });
    const client = bench.client(id, scene.tenant);
    expectProblem(await client.post('/run', { input: {} }), 400, 'wrong-endpoint-type');
    expectProblem(await client.status('x'), 400, 'wrong-endpoint-type');
    expect((await client.call('/health')).status).toBe(200);
  });

  test('a path of the management API says where that is', async () => {
    const at = (key = scene.tenant.key) => new JobClient(bench.router.url, key);
    for (const path of ['/v2/serverless', '/v2/serverless/x', '/v2/templates/run', '/v1/endpoints', '/openapi.json']) {
      const answer = await at().call(path);
      expectProblem(answer, 404, 'route-not-found');
      expect(answer.body.detail).toContain('management API, which has such paths, is at https://api.example.com.');
    }
    // Where a job path has the same shape, who may ask is settled first, as for any endpoint.
    expectProblem(await at('nonsense').call('/v2/serverless/health'), 401, 'invalid-api-key');
    const named = await at().call('/v2/serverless/health');
    expectProblem(named, 404, 'route-not-found');
    expect(named.body.detail).toContain('https://api.example.com');
    expectProblem(await at().call('/v2/nothing/health'), 404, 'endpoint-not-found');
  });

  test('paths and methods that do not exist', async () => {
    expectProblem(await scene.client.call('/nowhere'), 404, 'route-not-found');
    const wrong = await scene.client.call('/run');
    expectProblem(wrong, 405, 'method-not-allowed');
    expect(wrong.headers.get('allow')).toBe('POST');
  });
});

test('official clients send a JSON content type with no body: that is no error', async () => {
  const id = await scene.client.run({});
  const json = { headers: { 'content-type': 'application/json' } };
  expect((await scene.client.call(`/status/${id}`, json)).status).toBe(200);
  expect((await scene.client.call('/health', json)).status).toBe(200);
  expect((await scene.client.call(`/cancel/${id}`, { ...json, method: 'POST' })).body.status).toBe('CANCELLED');
});

test('a key of another account learns nothing of what exists', async () => {
  const stranger = await bench.controlPlane.tenant({ accountId: 'stranger' as AccountId });
  const known = await new JobClient(`${bench.router.url}/v2/${scene.endpointId}`, stranger.key).call('/health');
  const unknown = await new JobClient(`${bench.router.url}/v2/nothing`, stranger.key).call('/health');
  const { instance: a, ...knownBody } = known.body;
  const { instance: b, ...unknownBody } = unknown.body;
  expect([known.status, knownBody]).toEqual([unknown.status, unknownBody]);
  expect(a).not.toBe(b);
});
