import { beforeAll, describe, expect, test } from '@jest/globals';
import { GB_BYTES, type Inventory } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { HostEntity, WorkerEntity } from '../src/persistence/entities/index.js';
import { QUEUE_ENDPOINT, each, failedPaths, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

const L4 = 'NVIDIA L4';
const AVAILABILITY = 'include=AVAILABILITY&product=SERVERLESS';
/** Hosts count as heard of for as long as the tests may take. */
const HEARD_UNTIL_MS = 600_000;

let reader: string;

const get = (path: string): Promise<Answer> => bench.call(`GET /v2/catalog/${path}`, { key: reader });

beforeAll(async () => {
  reader = await bench.newKey(['catalog:read']);
});

const PATHS = [
  'gpus',
  'gpus/NVIDIA%20L4',
  'cpus',
  'cpus/cpu3c',
  'data-centers',
  'data-centers/EU-RO-1',
  'datacenters',
  'datacenters/EU-RO-1',
  'templates',
];

describe('every catalog', () => {
  test('is read with the scope catalog:read alone', async () => {
    const key = await bench.keyWithout('catalog:read');
    for (const path of PATHS) {
      expect([path, (await get(path)).status]).toEqual([path, 200]);
      expect(await bench.call(`GET /v2/catalog/${path}`, { key })).toMatchObject({ status: 403 });
    }
    expect(await bench.call('GET /v2/catalog/gpus', { key: null })).toMatchObject({ status: 401 });
  });

  test.each([
    ['gpus/RTX%20L4', 'gpu-type-not-found'],
    ['gpus/L4', 'gpu-type-not-found'],
    ['gpus/a%2Fb', 'gpu-type-not-found'],
    ['cpus/cpu9z', 'cpu-flavor-not-found'],
    ['data-centers/NOWHERE', 'data-center-not-found'],
    ['datacenters/eu-ro-1', 'data-center-not-found'],
  ])('404 for %s', async (path, code) => {
    expect(await get(path)).toMatchObject({ status: 404, body: { type: expect.stringContaining(code) } });
  });

  test('refuses to be written to', async () => {
    const answer = await bench.call('POST /v2/catalog/gpus', { key: reader, body: {} });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('query parameters', () => {
  test.each<[string, string[]]>([
    ['gpus?product=SERVERLESS', ['$.product']],
    ['gpus?include=AVAILABILITY', ['$.product']],
    ['gpus/NVIDIA%20L4?include=AVAILABILITY', ['$.product']],
    ['gpus?include=PRICES&product=POD', ['$.include']],
    ['gpus?include=AVAILABILITY&product=SERVER', ['$.product']],
    ['gpus?include=AVAILABILITY&product=', ['$.product']],
    [`gpus?${AVAILABILITY}&count=0`, ['$.count']],
    [`gpus?${AVAILABILITY}&count=two`, ['$.count']],
    ['gpus?count=2', ['$.count']],
    [`gpus?${AVAILABILITY}&cloud=secure`, ['$.cloud']],
    ['gpus?cloud=SECURE&countryCodes=FR', ['$.cloud', '$.countryCodes']],
    [`gpus?${AVAILABILITY}&countryCodes=FR,Germany`, ['$.countryCodes']],
    [`gpus?${AVAILABILITY}&cudaVersions=12`, ['$.cudaVersions']],
    [`gpus?${AVAILABILITY}&minCudaVersion=12.x`, ['$.minCudaVersion']],
    [`gpus?${AVAILABILITY}&cudaVersions=12.4&minCudaVersion=12.2`, ['$.minCudaVersion']],
    ['gpus?memory=24', ['$']],
    ['cpus?product=POD', ['$.product']],
    ['cpus?include=AVAILABILITY', ['$.product']],
    ['cpus?include=AVAILABILITY&product=CLUSTER', ['$.product']],
    [`cpus?${AVAILABILITY}&vcpuCount=1`, ['$.vcpuCount']],
    [`cpus?${AVAILABILITY}&vcpuCount=6`, ['$.vcpuCount']],
    ['cpus/cpu3c?vcpuCount=4', ['$.vcpuCount']],
    ['data-centers?include=AVAILABILITY', ['$.include']],
    ['data-centers?regions=EUROPA', ['$.regions']],
    ['data-centers?networkVolumeTypes=FAST', ['$.networkVolumeTypes']],
    ['data-centers?compliance=GDPR,SOC', ['$.compliance']],
    ['data-centers?globalNetwork=1', ['$.globalNetwork']],
    ['data-centers/EU-RO-1?regions=EUROPE', ['$']],
    ['templates?source=mine', ['$.source']],
  ])('%s: 400', async (path, paths) => {
    const answer = await get(path);
    expect(answer).toMatchObject({ status: 400, body: { type: expect.stringContaining('invalid-query') } });
    expect(failedPaths(answer)).toEqual(paths);
  });

  test('that may be some words only are refused with those words', async () => {
    const { body } = await get('gpus?include=AVAILABILITY&product=SERVER');
    expect(body.errors).toEqual(['$.product: item 0 must be one of POD, CLUSTER, SERVERLESS']);
  });
});

describe('an installation without hosts', () => {
  test('lists the published GPU types', async () => {
    const { body } = await get('gpus');
    expect(body.gpus).toHaveLength(45);
    expect(body.gpus).toContainEqual({
      id: 'NVIDIA GeForce RTX 4090',
      name: 'RTX 4090',
      pool: 'ADA_24',
      manufacturer: 'NVIDIA',
      memory: 24,
      secure: false,
      community: false,
      price: { secure: null, community: null, serverless: 1.116 },
      maxCount: { secure: 0, community: 0 },
      areGpusSimulated: false,
    });
    const { body: withoutPrice } = await get('gpus/NVIDIA%20GeForce%20RTX%205090');
    expect(withoutPrice.price).toEqual({ secure: null, community: null });
    const { body: amd } = await get('gpus/AMD%20Instinct%20MI300X%20OAM');
    expect(amd).toMatchObject({ pool: null, manufacturer: 'AMD' });
  });

  test('has nothing of any of them', async () => {
    const { body } = await get(`gpus?${AVAILABILITY}`);
    expect(body.gpus).toHaveLength(24);
    for (const gpu of body.gpus) {
      expect(gpu).toMatchObject({ availability: 'NONE', dataCenters: [], cudaVersions: [] });
    }
  });

  test('lists the published CPU flavors', async () => {
    const { body } = await get('cpus');
    expect(each({ body } as Answer, 'cpus', 'id')).toEqual(['cpu3c', 'cpu3g', 'cpu3m', 'cpu5c', 'cpu5g', 'cpu5m']);
    expect(body.cpus[0]).toEqual({
      id: 'cpu3c',
      name: 'Compute-Optimized',
      group: 'Gen 3',
      vcpu: { min: 2, max: 32 },
      ramGbPerVcpu: 2,
      price: { securePerVcpu: 0.03, serverlessPerVcpu: 0.036 },
    });
    expect(body.cpus[4].price).toEqual({ securePerVcpu: null, serverlessPerVcpu: null });
    expect(await get(`cpus/cpu5g?${AVAILABILITY}`)).toMatchObject({ body: { availability: 'NONE', dataCenters: [] } });
  });

  test('lists the published data centers, the same under both paths', async () => {
    const { body } = await get('data-centers?include=GPU_AVAILABILITY,CPU_AVAILABILITY');
    expect(body.dataCenters).toHaveLength(30);
    expect(body.dataCenters[0]).toEqual({
      id: 'EU-RO-1',
      name: 'EU-RO-1',
      region: 'EUROPE',
      globalNetwork: false,
      networkVolumeTypes: ['STANDARD', 'HIGH_PERFORMANCE'],
      compliance: [],
      gpuAvailability: [],
      cpuAvailability: [],
    });
    expect((await get('datacenters')).body).toEqual((await get('data-centers')).body);
    expect((await get('datacenters/EU-RO-1')).body).toEqual((await get('data-centers/EU-RO-1')).body);
  });

  test.each<[string, number]>([
    ['regions=OCEANIA', 1],
    ['regions=OCEANIA,ASIA', 2],
    ['regions=OCEANIA&regions=ASIA', 2],
    ['regions=AFRICA', 0],
    ['networkVolumeTypes=STANDARD,HIGH_PERFORMANCE', 30],
    ['compliance=GDPR', 0],
    ['globalNetwork=false', 30],
    ['globalNetwork=true', 0],
    ['regions=ASIA&globalNetwork=true', 0],
  ])('filters them by %s', async (query, count) => {
    expect((await get(`data-centers?${query}`)).body.dataCenters).toHaveLength(count);
  });
});

describe('an installation with hosts', () => {
  const gpus = (typeId: string, count: number): Inventory['gpus'] =>
    Array.from({ length: count }, (_, index) => ({ index, typeId, memoryBytes: 24 * GB_BYTES }));

  async function joinHost(id: string, inventory: Partial<Inventory>, fields: Partial<HostEntity> = {}): Promise<void> {
    await bench.source.getRepository(HostEntity).insert({
      id,
      name: id,
      dataCenterId: 'OURS-1',
      labels: {},
      intent: 'ready',
      secretHash: null,
      inventory: {
        vcpus: 64,
        isOvercommitted: false,
        memoryBytes: 256 * GB_BYTES,
        diskBytes: 2_000 * GB_BYTES,
        gpus: [],
        areGpusSimulated: false,
        cudaVersion: null,
        runtime: 'docker',
        images: [],
        ...inventory,
      },
      instanceId: null,
      reportSequence: 0,
      lastSeenAt: new Date(systemClock.nowMs() + HEARD_UNTIL_MS),
      createdAt: new Date(systemClock.nowMs()),
      ...fields,
    });
  }

  beforeAll(async () => {
    await joinHost('l4', { gpus: gpus(L4, 8), cudaVersion: '12.4' });
    await joinHost(
      'l4-old',
      { gpus: gpus(L4, 4), cudaVersion: '11.8', areGpusSimulated: true },
      { dataCenterId: 'EU-SE-1' },
    );
    await joinHost('l4-cordoned', { gpus: gpus(L4, 4), cudaVersion: '13.0' }, { intent: 'cordoned' });
    await joinHost('new-card', { gpus: gpus('Xe 2', 1) }, { dataCenterId: 'OURS-2' });
    await bench.source.getRepository(HostEntity).update('new-card', { lastSeenAt: new Date(0) });
    await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'invited', dataCenterId: 'NOT-YET' } });
    // Of another account than the reader's: its workers count, and nothing else of them is seen.
    const { body: endpoint } = await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT });
    const resources = { vcpus: 4, memoryBytes: GB_BYTES, diskBytes: GB_BYTES, gpuTypeId: L4, gpuCount: 4 };
    await bench.source.getRepository(WorkerEntity).insert({
      id: 'w1',
      endpointId: endpoint.id,
      hostId: 'l4-old',
      release: 1,
      intent: 'running',
      resources,
      restarts: 0,
      observed: null,
      createdAt: new Date(systemClock.nowMs()),
    });
  });

  test('tells what is free of a GPU type, where, and with which CUDA versions', async () => {
    const { body } = await get(`gpus/NVIDIA%20L4?${AVAILABILITY}`);
    expect(body).toEqual({
      id: L4,
      name: 'L4',
      pool: 'AMPERE_24',
      manufacturer: 'NVIDIA',
      memory: 24,
      secure: true,
      community: false,
      price: { secure: null, community: null, serverless: 0.684 },
      maxCount: { secure: 8, community: 0 },
      areGpusSimulated: true,
      availability: 'MEDIUM',
      dataCenters: [
        { id: 'EU-SE-1', name: 'EU-SE-1', availability: 'NONE' },
        { id: 'OURS-1', name: 'OURS-1', availability: 'MEDIUM' },
      ],
      cudaVersions: [
        { version: '12.4', available: true },
        { version: '11.8', available: false },
      ],
    });
    expect((await get(`gpus?${AVAILABILITY}`)).body.gpus).toContainEqual(body);
    const text = JSON.stringify(body);
    for (const secret of ['l4-old', 'w1', 'default']) expect(text).not.toContain(secret);
  });

  test.each<[string, string, string[]]>([
    ['count=4', 'LOW', ['EU-SE-1', 'OURS-1']],
    ['count=8', 'LOW', ['OURS-1']],
    ['count=9', 'NONE', []],
    ['cloud=COMMUNITY', 'NONE', []],
    ['countryCodes=SE,NO', 'NONE', ['EU-SE-1']],
    ['countryCodes=FR', 'NONE', []],
    ['cudaVersions=12.4', 'MEDIUM', ['OURS-1']],
    ['cudaVersions=11.8,12.2', 'NONE', ['EU-SE-1']],
    ['minCudaVersion=12.2', 'MEDIUM', ['OURS-1']],
    ['minCudaVersion=12', 'MEDIUM', ['OURS-1']],
    ['minCudaVersion=12.11', 'NONE', []],
  ])('asked with %s', async (query, availability, dataCenterIds) => {
    const { body } = await get(`gpus/NVIDIA%20L4?${AVAILABILITY}&${query}`);
    expect(body.availability).toBe(availability);
    expect(each({ body } as Answer, 'dataCenters', 'id')).toEqual(dataCenterIds);
  });

  test('asked by country lists the types that are there', async () => {
    expect(each(await get(`gpus?${AVAILABILITY}&countryCodes=SE`), 'gpus', 'id')).toEqual([L4]);
    expect(each(await get(`gpus?${AVAILABILITY}&countryCodes=FR`), 'gpus', 'id')).toEqual([]);
  });

  test('lists a card that only a host knows, for pods', async () => {
    const { body } = await get('gpus/Xe%202');
    expect(body).toMatchObject({ name: 'Xe 2', pool: null, manufacturer: 'UNKNOWN', memory: 24, secure: true });
    const ids = async (product: string): Promise<string[]> =>
      each(await get(`gpus?include=AVAILABILITY&product=${product}`), 'gpus', 'id');
    expect((await ids('POD,CLUSTER')).at(-1)).toBe('Xe 2');
    expect(await ids('SERVERLESS')).not.toContain('Xe 2');
  });

  test('tells the room for CPU workers by their size', async () => {
    const small = await get(`cpus/cpu3c?${AVAILABILITY}`);
    expect(small.body).toMatchObject({
      availability: 'HIGH',
      dataCenters: [
        { id: 'EU-SE-1', name: 'EU-SE-1', availability: 'HIGH' },
        { id: 'OURS-1', name: 'OURS-1', availability: 'HIGH' },
      ],
    });
    const large = await get(`cpus/cpu5m?include=AVAILABILITY&product=POD&vcpuCount=32`);
    expect(large.body).toMatchObject({ availability: 'LOW' });
  });

  test('lists the data centers of its hosts, with what they have', async () => {
    const { body } = await get('data-centers?include=GPU_AVAILABILITY&regions=UNKNOWN');
    expect(body.dataCenters).toEqual([
      expect.objectContaining({
        id: 'OURS-1',
        name: 'OURS-1',
        region: 'UNKNOWN',
        gpuAvailability: [{ id: L4, name: 'L4', availability: 'MEDIUM' }],
      }),
      expect.objectContaining({ id: 'OURS-2', gpuAvailability: [] }),
    ]);
    expect(body.dataCenters[0]).not.toHaveProperty('cpuAvailability');
    expect(await get('data-centers/NOT-YET')).toMatchObject({ status: 404 });
  });
});

describe('GET /v2/catalog/templates', () => {
  beforeAll(async () => {
    const maker = await bench.newAccount('maker');
    const create = (key: string, body: object): Promise<Answer> =>
      bench.call('POST /v2/templates', { key, body: { image: 'local/echo', ...body } });
    await create(maker, { name: 'private' });
    await create(maker, { name: 'shared', public: true, env: { MODEL: 'm' } });
    await create(bench.operatorKey, { name: 'ours', public: true, source: 'official' });
    await create(bench.operatorKey, { name: 'checked', public: true, source: 'verified' });
  });

  test.each<[string, string[]]>([
    ['', ['ours']],
    ['?source=official', ['ours']],
    ['?source=verified', ['checked']],
    ['?source=community', ['shared']],
  ])('200 for %j', async (query, names) => {
    expect(each(await get(`templates${query}`), 'templates', 'name')).toEqual(names);
  });

  test('200 with templates as they are read one by one', async () => {
    const { body } = await get('templates?source=community');
    const key = await bench.newKey(['templates:read']);
    expect((await bench.call(`GET /v2/templates/${body.templates[0].id}`, { key })).body).toEqual(body.templates[0]);
  });
});
