import { describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, failedPaths, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

const GPU_ENDPOINT = {
  ...QUEUE_ENDPOINT,
  cpu: undefined,
  gpu: { pools: ['ADA_24', 'AMPERE_24'] },
};

const create = (changes: object, base: object = QUEUE_ENDPOINT): Promise<Answer> =>
  bench.call('POST /v2/serverless', { body: { ...base, ...changes } });

describe('201', () => {
  test('answers the endpoint with its defaults, and the routers know it at once', async () => {
    const { body, status } = await create({});
    expect(status).toBe(201);
    const run = `https://jobs.example.com/v2/${body.id}`;
    expect(body).toEqual({
      id: expect.stringMatching(/^[a-z0-9]{14}$/),
      name: 'echo',
      type: 'QUEUE',
      requestUrls: {
        run: `${run}/run`,
        runSync: `${run}/runsync`,
        status: `${run}/status/{job_id}`,
        stream: `${run}/stream/{job_id}`,
        cancel: `${run}/cancel/{job_id}`,
        retry: `${run}/retry/{job_id}`,
        purgeQueue: `${run}/purge-queue`,
        health: `${run}/health`,
      },
      image: 'local/echo',
      args: '',
      ports: [],
      env: {},
      registry: null,
      gpu: null,
      cpu: [{ id: 'cpu3c', vcpuCount: 2, memory: 4 }],
      workers: { min: 0, max: 3, idleTimeout: 10 },
      scaling: { type: 'QUEUE_DELAY', queueDelay: 1 },
      dataCenterIds: [],
      networkVolumes: [],
      timeout: 300_000,
      flashboot: 'OFF',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(await bench.endpointSnapshot(body.id)).toEqual({
      id: body.id,
      accountId: 'default',
      type: 'QUEUE',
      executionTimeoutMs: 300_000,
      workersMax: 3,
      isDeleted: false,
    });
  });

  test('keeps every field as it came', async () => {
    const given = {
      args: `--prompt 'two words'`,
      disk: 20,
      env: { constructor: 'a', EMPTY: '', LINES: 'a\nb' },
      ports: ['8080/http', '8080/tcp'],
      registry: null,
      dataCenterIds: ['EU-1', 'LOCAL-1'],
      flashboot: 'PRIORITY_FLASHBOOT',
      timeout: 1_000,
      workers: { min: 1, max: 1_000, idleTimeout: 3_600 },
      cpu: [
        { id: 'cpu5m', vcpuCount: 8 },
        { id: 'cpu5m', vcpuCount: 4 },
      ],
    };
    const { body, status } = await create(given);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...given,
      cpu: [
        { ...given.cpu[0], memory: 64 },
        { ...given.cpu[1], memory: 32 },
      ],
    });
  });

  test('of a GPU endpoint merges repeated pools and trims excluded types', async () => {
    const gpu = { pools: ['ADA_24', 'AMPERE_24', 'ADA_24'], excludedTypes: ['  NVIDIA L4 '], minCudaVersion: '12.4' };
    const { body } = await create({ gpu }, GPU_ENDPOINT);
    expect(body).toMatchObject({
      gpu: {
        pools: ['ADA_24', 'AMPERE_24'],
        excludedTypes: ['NVIDIA L4'],
        count: 1,
        allowedCudaVersions: [],
        minCudaVersion: '12.4',
      },
    });
    expect(body).not.toHaveProperty('cpu');
  });

  test('takes an empty list of CUDA versions beside a floor', async () => {
    const gpu = { pools: ['ADA_24'], allowedCudaVersions: [], minCudaVersion: '12.4' };
    expect(await create({ gpu }, GPU_ENDPOINT)).toMatchObject({ status: 201 });
  });

  test('of a load-balanced endpoint has its own host and health path', async () => {
    const env = { HEALTH_CHECK_PATH: '/healthz' };
    const scaling = { type: 'REQUEST_COUNT', requestCount: 4 };
    const { body } = await create({ type: 'LOAD_BALANCER', scaling, env });
    const base = `https://${body.id}.lb.example.com`;
    expect(body).toMatchObject({
      requestUrls: { base, health: `${base}/healthz` },
      scaling,
      workers: { idleTimeout: 10 },
    });
  });

  test('of a queue that scales on its request count has no idle timeout', async () => {
    const { body } = await create({ scaling: { type: 'REQUEST_COUNT', requestCount: 2 } });
    expect(body.workers).toEqual({ min: 0, max: 3 });
  });
});

describe('400', () => {
  test.each([
    ['malformed JSON', '{'],
    ['an empty body', ''],
    ['an array', '[]'],
  ])('for %s', async (_, text) => {
    expect(await bench.call('POST /v2/serverless', { text })).toMatchObject({
      status: 400,
      body: { type: 'https://api.example.com/docs/problems/body-not-json', status: 400 },
    });
  });

  const gpu = (changes: object): object => ({ gpu: { ...GPU_ENDPOINT.gpu, ...changes } });

  test.each<[string, object, string]>([
    ['neither gpu nor cpu', { cpu: undefined }, '$'],
    ['both gpu and cpu', { gpu: { pools: ['ADA_24'] } }, '$'],
    ['max below min', { workers: { min: 4 } }, '$.workers.min'],
    ['load balancing on the queue delay', { type: 'LOAD_BALANCER' }, '$.scaling.type'],
    [
      'an idle timeout that does not apply',
      { scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { idleTimeout: 5 } },
      '$.workers.idleTimeout',
    ],
    ['an unknown flavor', { cpu: [{ id: 'cpu9x', vcpuCount: 2 }] }, '$.cpu[0].id'],
    ['vCPU outside the flavor', { cpu: [{ id: 'cpu3c', vcpuCount: 64 }] }, '$.cpu[0].vcpuCount'],
    [
      'CUDA versions and a floor',
      { cpu: undefined, ...gpu({ allowedCudaVersions: ['12.4'], minCudaVersion: '12.1' }) },
      '$.gpu',
    ],
    ['an unknown pool', { cpu: undefined, ...gpu({ pools: ['NOPE'] }) }, '$.gpu.pools[0]'],
    ['a stray exclusion', { cpu: undefined, ...gpu({ excludedTypes: ['NVIDIA H200'] }) }, '$.gpu.excludedTypes[0]'],
    [
      'no GPU type left',
      { cpu: undefined, gpu: { pools: ['ADA_24'], excludedTypes: ['NVIDIA GeForce RTX 4090'] } },
      '$.gpu.excludedTypes',
    ],
  ])('for %s', async (_, changes, path) => {
    const answer = await create(changes);
    expect({ status: answer.status, type: answer.body.type }).toEqual({
      status: 400,
      type: 'https://api.example.com/docs/problems/rule-conflict',
    });
    expect(failedPaths(answer)).toEqual([path]);
  });
});

describe('401 and 403', () => {
  test('without a key, and with one that may only read', async () => {
    const body = QUEUE_ENDPOINT;
    expect(await bench.call('POST /v2/serverless', { key: null, body })).toMatchObject({
      status: 401,
      body: { detail: 'missing bearer token' },
    });
    const key = await bench.newKey(['serverless:read']);
    expect(await bench.call('POST /v2/serverless', { key, body })).toMatchObject({ status: 403 });
  });

  test('with a key that is limited to some endpoints', async () => {
    const maker = await bench.newAccount();
    const { body } = await bench.call('POST /v2/serverless', { key: maker, body: QUEUE_ENDPOINT });
    const key = await bench.newKey(['serverless:write'], { maker, endpointIds: [body.id] });
    expect(await bench.call('POST /v2/serverless', { key, body: QUEUE_ENDPOINT })).toMatchObject({ status: 403 });
  });
});

describe('404', () => {
  test.each([
    [{ templateId: 'nope', image: undefined }, 'template-not-found'],
    [{ registry: 'nope' }, 'registry-not-found'],
    [{ networkVolumes: ['nope'] }, 'network-volume-not-found'],
  ])('for %j', async (changes, code) => {
    const { body, status } = await create(changes);
    expect({ status, type: body.type }).toEqual({ status: 404, type: `https://api.example.com/docs/problems/${code}` });
  });
});

describe('413 and 415', () => {
  test('for a body that is too large, and for one that is no JSON', async () => {
    expect(await create({ args: 'x'.repeat(1_100_000) })).toMatchObject({ status: 413 });
    expect(await bench.call('POST /v2/serverless', { text: 'name=a', contentType: 'text/plain' })).toMatchObject({
      status: 415,
    });
  });
});

describe('422', () => {
  test('names every field that is wrong in one answer', async () => {
    const { body, status } = await bench.call('POST /v2/serverless', {
      body: {
        name: ' ',
        type: 'OTHER',
        scaling: { type: 'QUEUE_DELAY', queueDelay: 0.4, bogus: 1 },
        bogus: true,
        workers: { min: -1, max: '3' },
      },
    });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      "$.scaling: additional properties 'bogus' not allowed",
      "$: additional properties 'bogus' not allowed",
      '$.name: must not be blank',
      '$.type: must be one of QUEUE, LOAD_BALANCER',
      '$.scaling.queueDelay: must not be less than 0.5',
      '$.image: is required',
      '$.workers.min: must not be less than 0',
      '$.workers.max: must be an integer',
    ]);
  });

  test.each<[object, string]>([
    [{ name: 'x'.repeat(256) }, '$.name'],
    [{ name: 'a\u0007' }, '$.name'],
    [{ name: null }, '$.name'],
    [{ image: undefined }, '$.image'],
    [{ image: 'a b' }, '$.image'],
    [{ image: 'a\0b' }, '$.image'],
    [{ args: "it's" }, '$.args'],
    [{ disk: 0 }, '$.disk'],
    [{ disk: 65_537 }, '$.disk'],
    [{ disk: 1.5 }, '$.disk'],
    [{ env: { '1A': 'x' } }, '$.env'],
    [{ env: { A: 1 } }, '$.env'],
    [{ env: { A: 'a\0' } }, '$.env'],
    [{ env: { A: '\ud800' } }, '$.env'],
    [{ env: { A: 'x'.repeat(65_536) } }, '$.env'],
    [{ env: [] }, '$.env'],
    [{ ports: ['0/http'] }, '$.ports'],
    [{ ports: ['80/sctp'] }, '$.ports'],
    [{ ports: ['80/http', '80/http'] }, '$.ports'],
    [{ registry: '' }, '$.registry'],
    [{ templateId: '' }, '$.templateId'],
    [{ dataCenterIds: [''] }, '$.dataCenterIds'],
    [{ flashboot: 'ON' }, '$.flashboot'],
    [{ timeout: 999 }, '$.timeout'],
    [{ timeout: 604_800_001 }, '$.timeout'],
    [{ workers: { max: 1_001 } }, '$.workers.max'],
    [{ workers: { idleTimeout: 0 } }, '$.workers.idleTimeout'],
    [{ workers: { other: 1 } }, '$.workers'],
    [{ workers: [] }, '$.workers'],
    [{ workers: null }, '$.workers'],
    [{ scaling: null }, '$.scaling'],
    [{ scaling: undefined }, '$.scaling'],
    [{ scaling: { queueDelay: 1 } }, '$.scaling.type'],
    [{ scaling: { type: 'REQUEST_COUNT', requestCount: 0 } }, '$.scaling.requestCount'],
    [{ scaling: { type: 'REQUEST_COUNT' } }, '$.scaling.requestCount'],
    [{ cpu: [] }, '$.cpu'],
    [
      {
        cpu: [
          { id: 'cpu3c', vcpuCount: 2 },
          { vcpuCount: 2, id: 'cpu3c' },
        ],
      },
      '$.cpu',
    ],
    [{ cpu: [{ id: 'cpu3c', vcpuCount: 1 }] }, '$.cpu[0].vcpuCount'],
    [{ cpu: [{ id: 'cpu3c', vcpuCount: 6 }] }, '$.cpu[0].vcpuCount'],
    [{ cpu: ['cpu3c'] }, '$.cpu'],
    [{ allowedCudaVersions: ['12.4'] }, '$'],
    [{ gpu: null, cpu: undefined }, '$.gpu'],
    [{ gpu: { pools: [] }, cpu: undefined }, '$.gpu.pools'],
    [{ gpu: {}, cpu: undefined }, '$.gpu.pools'],
    [{ gpu: { pools: ['ADA_24'], excludedTypes: ['a', ' a '] }, cpu: undefined }, '$.gpu.excludedTypes'],
    [{ gpu: { pools: ['ADA_24'], excludedTypes: ['-a'] }, cpu: undefined }, '$.gpu.excludedTypes'],
    [{ gpu: { pools: ['ADA_24'], count: 0 }, cpu: undefined }, '$.gpu.count'],
    [{ gpu: { pools: ['ADA_24'], minCudaVersion: '12' }, cpu: undefined }, '$.gpu.minCudaVersion'],
    [{ gpu: { pools: ['ADA_24'], allowedCudaVersions: ['12.4.1'] }, cpu: undefined }, '$.gpu.allowedCudaVersions'],
  ])('for %j', async (changes, path) => {
    const answer = await create(changes);
    expect(answer.status).toBe(422);
    expect(failedPaths(answer)).toContain(path);
  });
});
