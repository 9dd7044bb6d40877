import { describe, expect, test } from '@jest/globals';
import { CREATE_ENDPOINT_BODIES } from './fixtures/create-endpoint-bodies.js';
import { QUEUE_ENDPOINT, failedPaths, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

const GPU_ENDPOINT = {
  ...QUEUE_ENDPOINT,
  cpu: undefined,
  gpu: { pools: ['ADA_24', 'AMPERE_24'] },
};

const PROBLEM = 'https://api.example.com/docs/problems/';
const REGISTRY = { name: 'r', username: 'u', password: 'p' };
const TEMPLATE = {
  name: 't',
  image: 'local/t',
  args: '--t',
  disk: 7,
  env: { A: 't', B: 't' },
  ports: ['80/http'],
  allowedCudaVersions: ['12.4'],
  serverless: true,
  public: true,
};

const newVolume = async (dataCenter: string, key = bench.operatorKey): Promise<string> =>
  (await bench.call('POST /v2/network-volumes', { key, body: { name: 'v', size: 10, dataCenter } })).body.id as string;

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

  test('keeps registry and volumes of its account', async () => {
    const registry = (await bench.call('POST /v2/registries', { body: REGISTRY })).body.id as string;
    const [one, two] = [await newVolume('EU-RO-1'), await newVolume('EU-RO-1')];
    const given = { registry, dataCenterIds: ['US-TX-1', 'EU-RO-1'] };
    const { body } = await create({ ...given, networkVolumes: [two, one, two] });
    expect(body).toMatchObject({ ...given, networkVolumes: [two, one] });
    expect(await bench.call(`DELETE /v2/registries/${registry}`)).toMatchObject({ status: 400 });
    expect(await bench.call(`DELETE /v2/network-volumes/${one}`)).toMatchObject({ status: 400 });
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

  test('made once for one Idempotency-Key', async () => {
    const call = (): Promise<Answer> =>
      bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT, headers: { 'idempotency-key': 'once' } });
    const [first, second] = [await call(), await call()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(await bench.call(`GET /v2/audit?resourceId=${first.body.id}`)).toMatchObject({
      body: { entries: [{ action: 'endpoint.created' }] },
    });
  });
});

describe('a template', () => {
  const made = async (changes: object = {}): Promise<string> =>
    (await bench.call('POST /v2/templates', { body: { ...TEMPLATE, ...changes } })).body.id as string;

  test('gives what the body leaves out; env is merged by key, the body wins', async () => {
    const templateId = await made();
    const { body } = await create({ templateId, image: undefined, env: { B: 'b' }, disk: 3 });
    expect(body).toMatchObject({
      image: 'local/t',
      args: '--t',
      disk: 3,
      ports: ['80/http'],
      env: { A: 't', B: 'b' },
      gpu: null,
    });
    const all = await create({ templateId, args: '', ports: [], registry: null });
    expect(all.body).toMatchObject({ image: 'local/echo', args: '', ports: [] });
  });

  test('gives its CUDA versions to a GPU endpoint that says none, and to none other', async () => {
    const templateId = await made();
    const cuda = async (gpu: object) =>
      (await create({ templateId, gpu: { pools: ['ADA_24'], ...gpu } }, GPU_ENDPOINT)).body.gpu
        .allowedCudaVersions as string[];
    expect(await cuda({})).toEqual(['12.4']);
    expect(await cuda({ allowedCudaVersions: [] })).toEqual([]);
    expect(await cuda({ allowedCudaVersions: ['13.0'] })).toEqual(['13.0']);
    expect(await cuda({ minCudaVersion: '12.1' })).toEqual([]);
  });

  test('is copied: its later edits and its end change nothing', async () => {
    const templateId = await made();
    const { body } = await create({ templateId, image: undefined });
    await bench.call(`PATCH /v2/templates/${templateId}`, { body: { image: 'local/later' } });
    expect(await bench.call(`DELETE /v2/templates/${templateId}`)).toMatchObject({ status: 204 });
    expect((await bench.call(`GET /v2/serverless/${body.id}`)).body).toEqual(body);
  });

  test('of another account may be used when it is public, without its registry', async () => {
    const key = await bench.newAccount();
    const registry = (await bench.call('POST /v2/registries', { key, body: REGISTRY })).body.id as string;
    const template = await bench.call('POST /v2/templates', { key, body: { ...TEMPLATE, registry } });
    const { body } = await create({ templateId: template.body.id, image: undefined });
    expect(body).toMatchObject({ image: 'local/t', registry: null });
  });

  test('gives its registry', async () => {
    const registry = (await bench.call('POST /v2/registries', { body: REGISTRY })).body.id as string;
    const templateId = await made({ registry });
    expect((await create({ templateId })).body.registry).toBe(registry);
  });
});

describe('400', () => {
  test.each([
    ['malformed JSON', '{'],
    ['an empty body', ''],
    ['an array', '[]'],
    ['null', 'null'],
  ])('for %s', async (_, text) => {
    expect(await bench.call('POST /v2/serverless', { text })).toMatchObject({
      status: 400,
      body: { type: `${PROBLEM}body-not-json`, status: 400 },
    });
  });

  test('for volumes where no worker can be', async () => {
    const networkVolumes = [await newVolume('EU-RO-1'), await newVolume('US-TX-1')];
    expect(await create({ networkVolumes })).toMatchObject({ status: 201, body: { networkVolumes } });
    const answer = await create({ networkVolumes, dataCenterIds: ['US-TX-1'] });
    expect(answer).toMatchObject({ status: 400, body: { type: `${PROBLEM}rule-conflict` } });
    expect(failedPaths(answer)).toEqual(['$.dataCenterIds']);
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
    expect({ status, type: body.type }).toEqual({ status: 404, type: `${PROBLEM}${code}` });
  });

  test('for what is another account’s', async () => {
    const key = await bench.newAccount();
    const registry = await bench.call('POST /v2/registries', { key, body: REGISTRY });
    const template = await bench.call('POST /v2/templates', { key, body: { ...TEMPLATE, public: false } });
    expect(await create({ registry: registry.body.id })).toMatchObject({ status: 404 });
    expect(await create({ templateId: template.body.id })).toMatchObject({ status: 404 });
    expect(await create({ networkVolumes: [await newVolume('EU-RO-1', key)] })).toMatchObject({ status: 404 });
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
  test('for a template that is for pods', async () => {
    const template = await bench.call('POST /v2/templates', { body: { ...TEMPLATE, serverless: false } });
    expect(await create({ templateId: template.body.id })).toMatchObject({
      status: 422,
      body: { type: `${PROBLEM}template-not-serverless` },
    });
  });
});

describe('the table of bodies', () => {
  test('is long enough', () => {
    expect(CREATE_ENDPOINT_BODIES.length).toBeGreaterThanOrEqual(150);
  });

  test.each(CREATE_ENDPOINT_BODIES)('$status: $what', async ({ body, errors = [], reads, status }) => {
    const answer = await bench.call('POST /v2/serverless', { body });
    expect(answer).toMatchObject({ status });
    if (status === 201) {
      expect(answer.body).toMatchObject({ ...body, ...reads });
      const read = await bench.call(`GET /v2/serverless/${answer.body.id}`);
      expect(read.body).toEqual(answer.body);
    } else {
      const given = answer.body.errors as string[];
      const lines = given.map((line, index) => (errors[index]?.includes(': ') ? line : line.split(': ')[0]));
      expect(lines).toEqual(errors);
    }
  });
});
