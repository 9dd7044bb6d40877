import { beforeAll, describe, expect, test } from '@jest/globals';
import { failedPaths, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

const PROBLEM = 'https://api.example.com/docs/problems/';

let templateId: string;

const newTemplate = async (changes: object = {}): Promise<string> => {
  const body = { name: 't', image: 'local/t', serverless: true, env: { A: 't', B: 't' }, ...changes };
  return (await bench.call('POST /v2/templates', { body })).body.id as string;
};

beforeAll(async () => {
  templateId = await newTemplate();
});

const create = (changes: object = {}): Promise<Answer> => {
  const body = { name: 'old', templateId, gpuTypeIds: ['NVIDIA GeForce RTX 4090'], ...changes };
  return bench.call('POST /v1/endpoints', { body });
};

const v2Of = async ({ body }: Answer) => (await bench.call(`GET /v2/serverless/${body.id}`)).body as object;

describe('201', () => {
  test('with the published fields, and what they make', async () => {
    const answer = await create({
      gpuTypeIds: ['NVIDIA A40', 'NVIDIA L4', 'NVIDIA A40'],
      workersMin: 1,
      workersMax: 2,
      idleTimeout: 5,
    });
    expect(answer).toMatchObject({ status: 201 });
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[a-z0-9]{14}$/),
      name: 'old',
      templateId,
      computeType: 'GPU',
      gpuTypeIds: ['NVIDIA A40', 'NVIDIA L4'],
      gpuCount: 1,
      allowedCudaVersions: [],
      minCudaVersion: null,
      instanceIds: [],
      workersMin: 1,
      workersMax: 2,
      idleTimeout: 5,
      scalerType: 'QUEUE_DELAY',
      scalerValue: 4,
      executionTimeoutMs: 300_000,
      flashboot: false,
      dataCenterIds: [],
      networkVolumeId: null,
      networkVolumeIds: [],
      env: { A: 't', B: 't' },
      userId: 'default',
      version: 1,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(await v2Of(answer)).toMatchObject({
      type: 'QUEUE',
      image: 'local/t',
      scaling: { type: 'QUEUE_DELAY', queueDelay: 4 },
      workers: { min: 1, max: 2, idleTimeout: 5 },
      gpu: {
        pools: ['AMPERE_48', 'AMPERE_24'],
        excludedTypes: ['NVIDIA RTX A6000', 'NVIDIA RTX A5000', 'NVIDIA GeForce RTX 3090'],
      },
    });
    const [row] = await bench.source.query<{ order: string[] }[]>(
      `SELECT spec->'gpu'->'preferredTypes' AS order FROM endpoints WHERE id = $1`,
      [answer.body.id],
    );
    expect(row?.order).toEqual(['NVIDIA A40', 'NVIDIA L4']);
  });

  test('with every other field', async () => {
    const volume = await bench.call('POST /v2/network-volumes', {
      body: { name: 'v', size: 10, dataCenter: 'EU-RO-1' },
    });
    const given = {
      gpuCount: 2,
      allowedCudaVersions: ['12.4'],
      scalerType: 'REQUEST_COUNT',
      scalerValue: 3,
      executionTimeoutMs: 1_000,
      flashboot: true,
      dataCenterIds: ['EU-RO-1'],
      networkVolumeId: volume.body.id as string,
    };
    const answer = await create({ ...given, computeType: 'GPU', env: { B: 'b' } });
    expect(answer.body).toMatchObject({ ...given, networkVolumeIds: [volume.body.id], env: { A: 't', B: 'b' } });
    expect(answer.body).not.toHaveProperty('idleTimeout');
    expect(await v2Of(answer)).toMatchObject({
      flashboot: 'FLASHBOOT',
      scaling: { type: 'REQUEST_COUNT', requestCount: 3 },
      gpu: { count: 2, allowedCudaVersions: ['12.4'] },
    });
  });

  test.each<[object, object[]]>([
    [
      { cpuFlavorIds: ['cpu3g', 'cpu5c'], vcpuCount: 4 },
      [
        { id: 'cpu3g', vcpuCount: 4, memory: 16 },
        { id: 'cpu5c', vcpuCount: 4, memory: 8 },
      ],
    ],
    [{ computeType: 'CPU', cpuFlavorIds: ['cpu3c'] }, [{ id: 'cpu3c', vcpuCount: 2, memory: 4 }]],
    [{ instanceIds: ['cpu3g-4-16'] }, [{ id: 'cpu3g', vcpuCount: 4, memory: 16 }]],
  ])('on CPUs: %j', async (compute, cpu) => {
    const answer = await create({ gpuTypeIds: undefined, ...compute });
    expect(answer).toMatchObject({ status: 201, body: { computeType: 'CPU', gpuTypeIds: [], gpuCount: 0 } });
    expect(await v2Of(answer)).toMatchObject({ gpu: null, cpu });
  });

  test('takes the CUDA versions of the template where it says none itself', async () => {
    const withCuda = await newTemplate({ allowedCudaVersions: ['12.4'] });
    expect((await create({ templateId: withCuda })).body.allowedCudaVersions).toEqual(['12.4']);
    expect((await create({ templateId: withCuda, minCudaVersion: '12.1' })).body.allowedCudaVersions).toEqual([]);
  });

  test('the same for the same Idempotency-Key', async () => {
    const body = { name: 'old', templateId, gpuTypeIds: ['NVIDIA L4'] };
    const call = (): Promise<Answer> =>
      bench.call('POST /v1/endpoints', { body, headers: { 'idempotency-key': 'once' } });
    const [first, second] = [await call(), await call()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
  });
});

describe('refused in the words of this form, with a message', () => {
  test.each<[object, number, string[]]>([
    [{ gpuTypeIds: undefined }, 400, ['$.gpuTypeIds']],
    [{ gpuTypeIds: ['NVIDIA A30', 'NVIDIA L4', 'nope'] }, 400, ['$.gpuTypeIds[2]', '$.gpuTypeIds[0]']],
    [{ cpuFlavorIds: ['cpu3c'] }, 400, ['$.cpuFlavorIds']],
    [{ computeType: 'CPU' }, 400, ['$.gpuTypeIds', '$']],
    [{ computeType: 'CPU', gpuTypeIds: undefined, cpuFlavorIds: ['cpu3c'], instanceIds: ['cpu3c-2-4'] }, 400, ['$']],
    [{ gpuTypeIds: undefined, cpuFlavorIds: ['cpu3c', 'cpu9z'] }, 400, ['$.cpuFlavorIds[1]']],
    [{ gpuTypeIds: undefined, cpuFlavorIds: ['cpu3c'], vcpuCount: 64 }, 400, ['$.vcpuCount']],
    [{ gpuTypeIds: undefined, instanceIds: ['cpu3c-2-8'] }, 400, ['$.instanceIds[0]']],
    [{ gpuTypeIds: undefined, instanceIds: ['cpu3c-2-4', 'cpu9z-2-4'] }, 400, ['$.instanceIds[1]']],
    [{ gpuTypeIds: undefined, instanceIds: ['cpu3c-3-6'] }, 400, ['$.instanceIds[0]']],
    [{ workersMin: 4 }, 400, ['$.workersMin']],
    [{ scalerType: 'REQUEST_COUNT', idleTimeout: 5 }, 400, ['$.idleTimeout']],
    [{ allowedCudaVersions: ['12.4'], minCudaVersion: '12.1' }, 400, ['$']],
    [{ templateId: 'nope' }, 404, ['$.templateId']],
    [{ networkVolumeIds: ['nope'] }, 404, ['$.networkVolumeIds[0]']],
    [{ networkVolumeId: 'nope' }, 404, ['$.networkVolumeId']],
    [{ gpuTypeIds: undefined, cpuFlavorIds: ['cpu3c'], minCudaVersion: '12.1' }, 422, ['$.minCudaVersion']],
    [{ templateId: undefined }, 422, ['$.templateId']],
    [{ name: '' }, 422, ['$.name']],
    [{ gpuTypeIds: [] }, 422, ['$.gpuTypeIds']],
    [{ computeType: 'TPU' }, 422, ['$.computeType']],
    [{ scalerValue: 0 }, 422, ['$.scalerValue']],
    [{ flashboot: 'ON' }, 422, ['$.flashboot']],
    [{ bogus: 1 }, 422, ['$']],
  ])('%j: %d', async (changes, status, paths) => {
    const answer = await create(changes);
    expect(answer.status).toBe(status);
    expect(failedPaths(answer)).toEqual(paths);
    expect(answer.body.message).toBe(answer.body.detail);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });

  test('422 for a template of pods', async () => {
    const answer = await create({ templateId: await newTemplate({ serverless: false }) });
    expect(answer).toMatchObject({ status: 422, body: { type: `${PROBLEM}template-not-serverless` } });
  });

  test('401 and 403', async () => {
    const key = await bench.keyWithout('serverless:write');
    const body = { name: 'old', templateId, gpuTypeIds: ['NVIDIA L4'] };
    const missing = await bench.call('POST /v1/endpoints', { key: null, body });
    expect(missing).toMatchObject({ status: 401, body: { message: 'missing bearer token' } });
    expect(await bench.call('POST /v1/endpoints', { key, body })).toMatchObject({ status: 403 });
  });
});
