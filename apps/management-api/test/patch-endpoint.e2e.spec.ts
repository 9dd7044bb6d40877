import { beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, failedPaths, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

const PROBLEM = 'https://api.example.com/docs/problems/';
const GPU_ENDPOINT = {
  ...QUEUE_ENDPOINT,
  cpu: undefined,
  gpu: { pools: ['ADA_24', 'AMPERE_24'], excludedTypes: ['NVIDIA L4'] },
};
const REQUEST_COUNT = { type: 'REQUEST_COUNT', requestCount: 2 } as const;

let id: string;

const create = async (body: object = QUEUE_ENDPOINT): Promise<string> =>
  (await bench.call('POST /v2/serverless', { body })).body.id as string;

const patch = (body: object, to = id): Promise<Answer> => bench.call(`PATCH /v2/serverless/${to}`, { body });

const read = (of = id): Promise<Answer> => bench.call(`GET /v2/serverless/${of}`);

const releasesOf = async () =>
  (await bench.call(`GET /v2/serverless/${id}/releases`)).body.releases as { version: number; diff: object[] }[];

const newVolume = async (dataCenter = 'EU-RO-1'): Promise<string> =>
  (await bench.call('POST /v2/network-volumes', { body: { name: 'v', size: 10, dataCenter } })).body.id as string;

const newRegistry = async (): Promise<string> =>
  (await bench.call('POST /v2/registries', { body: { name: 'r', username: 'u', password: 'p' } })).body.id as string;

const newTemplate = async (changes: object = {}): Promise<string> =>
  (await bench.call('POST /v2/templates', { body: { name: 't', image: 'local/t', serverless: true, ...changes } })).body
    .id as string;

beforeEach(async () => {
  id = await create();
});

describe('200', () => {
  test('name, workers, scaling and timeout apply at once and make no release', async () => {
    const changes = {
      name: 'other',
      workers: { min: 1, max: 5 },
      scaling: { type: 'QUEUE_DELAY', queueDelay: 2 },
      timeout: 60_000,
    };
    const { body, headers, status } = await patch(changes);
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...changes, workers: { min: 1, max: 5, idleTimeout: 10 } });
    expect(headers.get('etag')).toBe('"2"');
    expect((await read()).body).toEqual(body);
    expect(await releasesOf()).toHaveLength(1);
    expect(await bench.endpointSnapshot(id)).toMatchObject({ executionTimeoutMs: 60_000, workersMax: 5 });
  });

  test('what workers are made of makes one release, however much of it changes', async () => {
    const changes = {
      image: 'local/other',
      args: '--b',
      disk: 20,
      env: { A: 'b', MY_TOKEN: 'x' },
      ports: ['80/http'],
      registry: await newRegistry(),
      cpu: [{ id: 'cpu5c', vcpuCount: 8 }],
      dataCenterIds: ['EU-RO-1'],
      networkVolumes: [await newVolume()],
    };
    const { body, status } = await patch({ ...changes, name: 'other' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...changes, cpu: [{ id: 'cpu5c', vcpuCount: 8, memory: 16 }] });
    const [latest, ...older] = await releasesOf();
    expect(older.map(({ version }) => version)).toEqual([1]);
    expect(latest?.version).toBe(2);
    expect(latest?.diff).toEqual([
      { field: 'args', old: '', new: '--b' },
      { field: 'cpu', old: [{ id: 'cpu3c', vcpuCount: 2, memory: 4 }], new: body.cpu },
      { field: 'dataCenterIds', old: [], new: ['EU-RO-1'] },
      { field: 'disk', old: null, new: 20 },
      { field: 'env.A', old: null, new: 'b' },
      { field: 'env.MY_TOKEN', old: null, new: '***' },
      { field: 'image', old: 'local/echo', new: 'local/other' },
      { field: 'networkVolumes', old: [], new: changes.networkVolumes },
      { field: 'ports', old: [], new: ['80/http'] },
      { field: 'registry', old: null, new: changes.registry },
    ]);
  });

  test('flashboot makes none: it changes nothing that a worker is made of', async () => {
    expect((await patch({ flashboot: 'FLASHBOOT' })).body).toMatchObject({ flashboot: 'FLASHBOOT' });
    expect(await releasesOf()).toHaveLength(1);
  });

  test.each<[string, object]>([
    ['nothing', {}],
    ['what is there', { name: 'echo', image: 'local/echo', workers: { min: 0 }, env: {}, registry: null }],
    ['an empty object of changes', { workers: {} }],
  ])('%s changes nothing: no release, no version, no entry in the audit trail', async (_, body) => {
    const before = await read();
    const answer = await patch(body);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: before.body });
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(await releasesOf()).toHaveLength(1);
    const trail = await bench.call(`GET /v2/audit?resourceId=${id}`);
    expect(trail.body.entries).toHaveLength(1);
  });

  test('a change is in the audit trail, all of it, without secrets', async () => {
    await patch({ env: { MY_KEY: 'secret' }, name: 'other' });
    const { body } = await bench.call(`GET /v2/audit?resourceId=${id}`);
    expect(body.entries[0]).toMatchObject({
      action: 'endpoint.updated',
      diff: [
        { field: 'env.MY_KEY', old: null, new: '***' },
        { field: 'name', old: 'echo', new: 'other' },
      ],
    });
  });

  test('env is replaced whole, and emptied', async () => {
    await patch({ env: { A: '1', B: '2' } });
    expect((await patch({ env: { B: '3' } })).body.env).toEqual({ B: '3' });
    expect((await patch({ name: 'x' })).body.env).toEqual({ B: '3' });
    expect((await patch({ env: {} })).body.env).toEqual({});
  });

  test('registry null clears', async () => {
    const registry = await newRegistry();
    expect((await patch({ registry })).body.registry).toBe(registry);
    expect((await patch({ image: 'local/b' })).body.registry).toBe(registry);
    expect((await patch({ registry: null })).body.registry).toBeNull();
    expect(await bench.call(`DELETE /v2/registries/${registry}`)).toMatchObject({ status: 204 });
  });

  test('the idle timeout goes and comes back with the scaler', async () => {
    expect((await patch({ workers: { idleTimeout: 60 } })).body.workers).toEqual({ min: 0, max: 3, idleTimeout: 60 });
    expect((await patch({ scaling: REQUEST_COUNT })).body.workers).toEqual({ min: 0, max: 3 });
    const back = await patch({ scaling: QUEUE_ENDPOINT.scaling, workers: { idleTimeout: 30 } });
    expect(back.body.workers).toEqual({ min: 0, max: 3, idleTimeout: 30 });
  });

  test('pools alone clear the exclusions; CUDA rules are cleared by emptiness', async () => {
    const gpu = await create(GPU_ENDPOINT);
    const of = async (changes: object) => (await patch({ gpu: changes }, gpu)).body.gpu as object;
    expect(await of({ count: 2, minCudaVersion: '12.1' })).toMatchObject({
      ...GPU_ENDPOINT.gpu,
      count: 2,
      minCudaVersion: '12.1',
    });
    expect(await of({ minCudaVersion: '', allowedCudaVersions: ['12.4'] })).toMatchObject({
      minCudaVersion: null,
      allowedCudaVersions: ['12.4'],
    });
    expect(await of({ allowedCudaVersions: [] })).toMatchObject({ allowedCudaVersions: [] });
    expect(await of({ pools: ['AMPERE_24'], excludedTypes: [' NVIDIA RTX A5000'] })).toMatchObject({
      pools: ['AMPERE_24'],
      excludedTypes: ['NVIDIA RTX A5000'],
    });
    expect(await of({ pools: ['AMPERE_24'] })).toMatchObject({ excludedTypes: [], count: 2 });
  });

  test('a template is applied once, under the fields of the body, env by key', async () => {
    await patch({ env: { OLD: '1' }, disk: 5, ports: ['1/tcp'] });
    const registry = await newRegistry();
    const templateId = await newTemplate({
      args: '--t',
      env: { A: 't', B: 't' },
      registry,
      allowedCudaVersions: ['12.4'],
    });
    const { body } = await patch({ templateId, env: { B: 'b' }, args: '--b' });
    expect(body).toMatchObject({ image: 'local/t', args: '--b', env: { A: 't', B: 'b' }, ports: [], registry });
    expect(body).not.toHaveProperty('disk');
    await bench.call(`PATCH /v2/templates/${templateId}`, { body: { image: 'local/later' } });
    expect((await read()).body.image).toBe('local/t');
    expect(await releasesOf()).toHaveLength(3);
  });
});

describe('versions', () => {
  test('each change has one, and tells it as ETag; 304 for who has it', async () => {
    const tags = [await read(), await patch({ name: 'a' }), await patch({ image: 'local/b' }), await read()];
    expect(tags.map(({ headers }) => headers.get('etag'))).toEqual(['"1"', '"2"', '"3"', '"3"']);
    const again = await bench.call(`GET /v2/serverless/${id}`, { headers: { 'if-none-match': '"3"' } });
    expect(again).toMatchObject({ status: 304, body: null });
  });

  test('If-Match of the present version is let through, of another one is 412 and changes nothing', async () => {
    const change = (tag: string, body: object): Promise<Answer> =>
      bench.call(`PATCH /v2/serverless/${id}`, { body, headers: { 'if-match': tag } });
    expect(await change('"1"', { name: 'a' })).toMatchObject({ status: 200 });
    const late = await change('"1"', { name: 'b' });
    expect(late).toMatchObject({ status: 412, body: { type: `${PROBLEM}precondition-failed` } });
    expect(late.headers.get('etag')).toBe('"2"');
    expect(await change('"1"', {})).toMatchObject({ status: 412 });
    expect(await change('*', { name: 'c' })).toMatchObject({ status: 200 });
    expect(await change('3', {})).toMatchObject({ status: 400, body: { type: `${PROBLEM}invalid-header` } });
    const gone = await bench.call(`DELETE /v2/serverless/${id}`, { headers: { 'if-match': '"1"' } });
    expect(gone).toMatchObject({ status: 412 });
    expect((await read()).body.name).toBe('c');
  });
});

describe('400', () => {
  const refused = async (answer: Promise<Answer>, paths: string[]): Promise<void> => {
    const { body, headers, status } = await answer;
    expect({ status, type: body.type }).toEqual({ status: 400, type: `${PROBLEM}rule-conflict` });
    expect(failedPaths({ body, headers, status })).toEqual(paths);
  };

  test.each<[object, string[]]>([
    [{ gpu: { count: 1 } }, ['$.gpu']],
    [{ gpu: { count: 1 }, cpu: [{ id: 'cpu3c', vcpuCount: 2 }] }, ['$.gpu']],
    [{ workers: { min: 4 } }, ['$.workers.min']],
    [{ scaling: REQUEST_COUNT, workers: { idleTimeout: 5 } }, ['$.workers.idleTimeout']],
    [{ cpu: [{ id: 'cpu3c', vcpuCount: 64 }] }, ['$.cpu[0].vcpuCount']],
    [{ cpu: [{ id: 'cpu9z', vcpuCount: 2 }], workers: { min: 1 } }, ['$.cpu[0].id']],
    [{ gpu: {}, workers: { min: 4 } }, ['$.gpu', '$.workers.min']],
  ])('of a CPU endpoint: %j', async (body, paths) => {
    await refused(patch(body), paths);
    expect((await read()).headers.get('etag')).toBe('"1"');
  });

  test.each<[object, string[]]>([
    [{ cpu: [{ id: 'cpu3c', vcpuCount: 2 }] }, ['$.cpu']],
    [{ gpu: { allowedCudaVersions: ['12.4'] } }, ['$.gpu']],
    [{ gpu: { pools: ['NOPE'] } }, ['$.gpu.pools[0]']],
    [{ gpu: { pools: ['ADA_24'], excludedTypes: ['NVIDIA L4'] } }, ['$.gpu.excludedTypes[0]']],
    [{ gpu: { pools: ['ADA_24'], excludedTypes: ['NVIDIA GeForce RTX 4090'] } }, ['$.gpu.excludedTypes']],
  ])('of a GPU endpoint with a CUDA floor: %j', async (body, paths) => {
    const gpu = await create({ ...GPU_ENDPOINT, gpu: { ...GPU_ENDPOINT.gpu, minCudaVersion: '12.1' } });
    await refused(patch(body, gpu), paths);
  });

  test('of a load balancer: another scaler', async () => {
    const balancer = await create({ ...QUEUE_ENDPOINT, type: 'LOAD_BALANCER', scaling: REQUEST_COUNT });
    await refused(patch({ scaling: QUEUE_ENDPOINT.scaling }, balancer), ['$.scaling.type']);
    expect((await patch({ workers: { idleTimeout: 5 } }, balancer)).status).toBe(200);
  });

  test('volumes where no worker can be', async () => {
    const [here, there] = [await newVolume('EU-RO-1'), await newVolume('US-TX-1')];
    expect((await patch({ networkVolumes: [here, there] })).status).toBe(200);
    await refused(patch({ dataCenterIds: ['US-TX-1'] }), ['$.dataCenterIds']);
    await refused(patch({ networkVolumes: [here], dataCenterIds: ['US-TX-1'] }), ['$.dataCenterIds']);
    expect((await patch({ networkVolumes: [here] })).status).toBe(200);
    await refused(patch({ dataCenterIds: ['US-TX-1'] }), ['$.dataCenterIds']);
    expect((await patch({ networkVolumes: [], dataCenterIds: ['US-TX-1'] })).status).toBe(200);
  });

  test('an environment that is too large with the template’s', async () => {
    const many = (prefix: string): object =>
      Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`${prefix}${index}`, 'x']));
    const templateId = await newTemplate({ env: many('T') });
    await refused(patch({ templateId, env: many('B') }), ['$.env']);
  });

  test.each(['{', '', '[]', 'null'])('no JSON object: %s', async (text) => {
    expect(await bench.call(`PATCH /v2/serverless/${id}`, { text })).toMatchObject({
      status: 400,
      body: { type: `${PROBLEM}body-not-json` },
    });
  });
});

describe('401, 403 and 404', () => {
  test('without a key, without the scope, and beyond the key', async () => {
    const body = { name: 'x' };
    const path = `PATCH /v2/serverless/${id}`;
    expect(await bench.call(path, { key: null, body })).toMatchObject({ status: 401 });
    expect(await bench.call(path, { key: await bench.keyWithout('serverless:write'), body })).toMatchObject({
      status: 403,
    });
    const other = await create();
    const limited = await bench.newKey(['serverless:*'], { maker: bench.operatorKey, endpointIds: [other] });
    expect(await bench.call(path, { key: limited, body })).toMatchObject({ status: 403 });
    expect(await bench.call(`PATCH /v2/serverless/${other}`, { key: limited, body })).toMatchObject({ status: 200 });
    expect((await read()).headers.get('etag')).toBe('"1"');
  });

  test('unknown, foreign and deleted endpoints are the same', async () => {
    const foreign = await bench.call('POST /v2/serverless', { key: await bench.newAccount(), body: QUEUE_ENDPOINT });
    const deleted = await create();
    await bench.call(`DELETE /v2/serverless/${deleted}`);
    const answers = await Promise.all(
      [foreign.body.id as string, deleted, 'nope'].map((of) => patch({ name: 'x' }, of)),
    );
    expect(new Set(answers.map(({ body }) => JSON.stringify({ ...body, instance: null }))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 404, body: { type: `${PROBLEM}endpoint-not-found` } });
  });

  test('what the body refers to: all of it in one answer', async () => {
    const { body, status } = await patch({ templateId: 'nope', registry: 'nope', networkVolumes: ['a', 'b'] });
    expect({ status, type: body.type }).toEqual({ status: 404, type: `${PROBLEM}template-not-found` });
    expect(body.errors).toEqual([
      '$.templateId: No such template',
      "$.registry: there is no container registry 'nope'",
      "$.networkVolumes[0]: there is no network volume 'a'",
      "$.networkVolumes[1]: there is no network volume 'b'",
    ]);
  });

  test.each([
    ['registry', 'POST /v2/registries', { name: 'r', username: 'u', password: 'p' }],
    ['networkVolumes', 'POST /v2/network-volumes', { name: 'v', size: 10, dataCenter: 'EU-RO-1' }],
    ['templateId', 'POST /v2/templates', { name: 't', image: 'i', serverless: true }],
  ])('%s of another account', async (field, path, body) => {
    const foreign = (await bench.call(path, { key: await bench.newAccount(), body })).body.id as string;
    const value = field === 'networkVolumes' ? [foreign] : foreign;
    expect(await patch({ [field]: value })).toMatchObject({ status: 404 });
  });
});

describe('422', () => {
  test.each<[object, string]>([
    [{ type: 'QUEUE' }, '$'],
    [{ bogus: 1 }, '$'],
    [{ name: '' }, '$.name'],
    [{ name: null }, '$.name'],
    [{ image: null }, '$.image'],
    [{ image: '' }, '$.image'],
    [{ args: null }, '$.args'],
    [{ disk: 0 }, '$.disk'],
    [{ env: null }, '$.env'],
    [{ ports: ['x'] }, '$.ports'],
    [{ registry: '' }, '$.registry'],
    [{ templateId: null }, '$.templateId'],
    [{ gpu: null }, '$.gpu'],
    [{ gpu: { excludedTypes: [] } }, '$.gpu.excludedTypes'],
    [{ gpu: { pools: [] } }, '$.gpu.pools'],
    [{ gpu: { minCudaVersion: null } }, '$.gpu.minCudaVersion'],
    [{ gpu: { minCudaVersion: '12' } }, '$.gpu.minCudaVersion'],
    [{ gpu: { bogus: 1 } }, '$.gpu'],
    [{ cpu: [] }, '$.cpu'],
    [{ cpu: null }, '$.cpu'],
    [{ cpu: [{ id: 'cpu3c', vcpuCount: 2, memory: 4 }] }, '$.cpu[0]'],
    [{ workers: null }, '$.workers'],
    [{ workers: { idleTimeout: null } }, '$.workers.idleTimeout'],
    [{ scaling: null }, '$.scaling'],
    [{ scaling: {} }, '$.scaling.type'],
    [{ dataCenterIds: null }, '$.dataCenterIds'],
    [{ networkVolumes: null }, '$.networkVolumes'],
    [{ flashboot: null }, '$.flashboot'],
    [{ timeout: null }, '$.timeout'],
  ])('%j', async (body, path) => {
    const answer = await patch(body);
    expect(answer.status).toBe(422);
    expect(failedPaths(answer)).toEqual([path]);
  });

  test('a template that is for pods', async () => {
    const templateId = await newTemplate({ serverless: false });
    expect(await patch({ templateId })).toMatchObject({
      status: 422,
      body: { type: `${PROBLEM}template-not-serverless` },
    });
  });
});
