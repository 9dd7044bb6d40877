import { describe, expect, test } from '@jest/globals';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { Host, Inventory } from '../host/index.js';
import type { HostId } from '../ids.js';
import { GB_BYTES, type HostLoad } from '../placement/index.js';
import type { WorkerResources } from '../worker/index.js';
import { availabilityOf } from './availability.js';
import { findCpuFlavor, listCpuFlavors, type CpuStockQuery } from './cpu-stock.js';
import { findDataCenter, listDataCenters, matchesFilter, type DataCenterFilter } from './data-center-stock.js';
import { findGpuType, listGpuTypes, type GpuStockQuery } from './gpu-stock.js';
import { installationOf, type Installation } from './installation.js';

const NOW = 1_000_000;
const L4 = 'NVIDIA L4';
const A30 = 'NVIDIA A30';

interface HostParts {
  readonly has?: Partial<Inventory> | null;
  readonly is?: Partial<Host>;
  readonly taken?: readonly Partial<WorkerResources>[];
}

const gpus = (typeId: string, count: number): Inventory['gpus'] =>
  Array.from({ length: count }, (_, index) => ({ index, typeId, memoryBytes: 24 * GB_BYTES }));

const load = ({ has = {}, is = {}, taken = [] }: HostParts): HostLoad => ({
  host: {
    id: 'h' as HostId,
    name: 'h',
    dataCenterId: 'LOCAL-1',
    labels: {},
    intent: 'ready',
    lastSeenAtMs: NOW,
    inventory:
      has === null
        ? null
        : {
            vcpus: 64,
            isOvercommitted: false,
            memoryBytes: 512 * GB_BYTES,
            diskBytes: 1_000 * GB_BYTES,
            gpus: [],
            areGpusSimulated: false,
            cudaVersion: null,
            runtime: 'docker',
            images: [],
            ...has,
          },
    ...is,
  },
  taken: taken.map((resources) => ({
    vcpus: 0,
    memoryBytes: 0,
    diskBytes: 0,
    gpuTypeId: null,
    gpuCount: 0,
    ...resources,
  })),
});

const installation = (...hosts: readonly HostParts[]): Installation =>
  installationOf(hosts.map(load), SHIPPED_CATALOG, NOW);

const EMPTY = installation();
const l4Host = (more: HostParts = {}, count = 4): HostParts => ({
  ...more,
  has: { gpus: gpus(L4, count), cudaVersion: '12.4', ...more.has },
});

test.each([
  [-1, 'NONE'],
  [0, 'NONE'],
  [1, 'LOW'],
  [2, 'LOW'],
  [3, 'MEDIUM'],
  [9, 'MEDIUM'],
  [10, 'HIGH'],
  [1_000, 'HIGH'],
])('room for %d is %s', (units, level) => {
  expect(availabilityOf(units)).toBe(level);
});

const gpuQuery = (fields: Partial<GpuStockQuery> = {}): GpuStockQuery => ({
  products: ['SERVERLESS'],
  count: 1,
  cloud: 'SECURE',
  countryCodes: [],
  cudaVersions: [],
  minCudaVersion: null,
  ...fields,
});

const gpuIds = (of: Installation, query: GpuStockQuery | null): string[] =>
  listGpuTypes(of, query).map(({ type }) => type.id);

const level = (of: Installation, query: Partial<GpuStockQuery> = {}): string | undefined =>
  findGpuType(of, L4, gpuQuery(query))?.stock?.availability;

describe('the list of GPU types', () => {
  test('is the table where there is no host, with none of any', () => {
    expect(gpuIds(EMPTY, null)).toEqual(SHIPPED_CATALOG.gpuTypes.map(({ id }) => id));
    for (const { isSimulated, maxCount, stock } of listGpuTypes(EMPTY, null)) {
      expect({ isSimulated, maxCount, stock }).toEqual({ isSimulated: false, maxCount: 0, stock: null });
    }
    expect(findGpuType(EMPTY, L4, gpuQuery())?.stock).toEqual({
      availability: 'NONE',
      dataCenters: [],
      cudaVersions: [],
    });
  });

  test.each<[string, GpuStockQuery['products'], boolean, boolean]>([
    ['serverless alone leaves out types in no pool', ['SERVERLESS'], true, false],
    ['pods take any type', ['POD'], true, true],
    ['clusters take any type', ['CLUSTER'], true, true],
    ['several products add up', ['SERVERLESS', 'POD'], true, true],
  ])('%s', (...[, products, pooled, unpooled]) => {
    const ids = gpuIds(EMPTY, gpuQuery({ products }));
    expect([ids.includes(L4), ids.includes(A30)]).toEqual([pooled, unpooled]);
  });

  test('ends with the types that only hosts know, by name', () => {
    const hosts = installation(
      { has: { gpus: gpus('Xe 2', 1) } },
      { has: { gpus: gpus('NVIDIA Z1', 1) }, is: { lastSeenAtMs: 0 } },
      { has: { gpus: gpus('Xe 2', 3) } },
    );
    expect(listGpuTypes(hosts, null).slice(SHIPPED_CATALOG.gpuTypes.length)).toEqual([
      {
        type: {
          id: 'NVIDIA Z1',
          name: 'NVIDIA Z1',
          memoryGb: 24,
          pool: null,
          manufacturer: 'NVIDIA',
          serverlessUsdPerSecond: null,
        },
        maxCount: 1,
        isSimulated: false,
        stock: null,
      },
      expect.objectContaining({
        type: expect.objectContaining({ id: 'Xe 2', manufacturer: 'UNKNOWN' }),
        maxCount: 3,
      }),
    ]);
    expect(findGpuType(hosts, 'Xe 2', gpuQuery({ products: ['POD'] }))?.stock?.availability).toBe('MEDIUM');
    expect(findGpuType(hosts, 'Xe 2', gpuQuery())?.stock?.availability).toBe('NONE');
    expect(findGpuType(hosts, 'Xe 3', null)).toBeUndefined();
  });

  test('says which GPUs are pretended, and the most that one host has', () => {
    const hosts = installation(l4Host({}, 2), l4Host({ has: { areGpusSimulated: true } }, 8));
    expect(findGpuType(hosts, L4, null)).toMatchObject({ maxCount: 8, isSimulated: true });
    expect(findGpuType(hosts, A30, null)).toMatchObject({ maxCount: 0, isSimulated: false });
  });
});

describe('the availability of a GPU type', () => {
  test.each<[string, Installation, Partial<GpuStockQuery>, string]>([
    ['without hosts', EMPTY, {}, 'NONE'],
    ['with hosts of another type', installation({ has: { gpus: gpus(A30, 8) } }), {}, 'NONE'],
    ['by what is free', installation(l4Host()), {}, 'MEDIUM'],
    ['over several hosts', installation(l4Host({}, 8), l4Host({}, 2)), {}, 'HIGH'],
    ['less what workers have', installation(l4Host({ taken: [{ gpuTypeId: L4, gpuCount: 3 }] })), {}, 'LOW'],
    ['with more taken than there is', installation(l4Host({ taken: [{ gpuTypeId: L4, gpuCount: 9 }] })), {}, 'NONE'],
    ['without vCPU left', installation(l4Host({ taken: [{ vcpus: 64 }] })), {}, 'NONE'],
    ['without memory left', installation(l4Host({ taken: [{ memoryBytes: 512 * GB_BYTES }] })), {}, 'NONE'],
    ['in pairs', installation(l4Host()), { count: 2 }, 'LOW'],
    ['in pairs on one host each', installation(l4Host({}, 1), l4Host({}, 1)), { count: 2 }, 'NONE'],
    ['of a host that has not joined', installation({ has: null }), {}, 'NONE'],
    ['of a silent host', installation(l4Host({ is: { lastSeenAtMs: NOW - 60_000 } })), {}, 'NONE'],
    ['of a cordoned host', installation(l4Host({ is: { intent: 'cordoned' } })), {}, 'NONE'],
    ['of a draining host', installation(l4Host({ is: { intent: 'draining' } })), {}, 'NONE'],
    ['of the community', installation(l4Host()), { cloud: 'COMMUNITY' }, 'NONE'],
    ['with the exact CUDA version', installation(l4Host()), { cudaVersions: ['11.8', '12.4'] }, 'MEDIUM'],
    ['with another CUDA version', installation(l4Host()), { cudaVersions: ['12.5'] }, 'NONE'],
    ['with CUDA from a floor on', installation(l4Host()), { minCudaVersion: '12.2' }, 'MEDIUM'],
    ['with CUDA below a floor', installation(l4Host()), { minCudaVersion: '12.11' }, 'NONE'],
    ['in a country', installation(l4Host({ is: { dataCenterId: 'EU-SE-1' } })), { countryCodes: ['SE'] }, 'MEDIUM'],
    ['in another country', installation(l4Host({ is: { dataCenterId: 'EU-SE-1' } })), { countryCodes: ['RO'] }, 'NONE'],
    ['in a country that nobody told', installation(l4Host()), { countryCodes: ['SE'] }, 'NONE'],
    ['for a cluster', installation(l4Host({}, 1), l4Host({}, 1)), { products: ['CLUSTER'] }, 'LOW'],
    ['for a cluster of one', installation(l4Host({}, 1)), { products: ['CLUSTER'] }, 'NONE'],
    ['for a cluster of one or a pod', installation(l4Host({}, 1)), { products: ['CLUSTER', 'POD'] }, 'LOW'],
  ])('%s', (...[, hosts, query, expected]) => {
    expect(level(hosts, query)).toBe(expected);
  });

  test('is told by data center and CUDA version too', () => {
    const full = { taken: [{ gpuTypeId: L4, gpuCount: 4 }] };
    const hosts = installation(
      l4Host({ is: { dataCenterId: 'US-TX-3' }, has: { cudaVersion: '12.11' } }),
      l4Host({ is: { dataCenterId: 'OURS' }, has: { cudaVersion: '12.2' }, ...full }),
      l4Host({ is: { dataCenterId: 'OURS' }, has: { cudaVersion: null }, ...full }),
      l4Host({ is: { dataCenterId: 'SILENT', lastSeenAtMs: null }, has: { cudaVersion: '13.0' } }),
    );
    expect(findGpuType(hosts, L4, gpuQuery())?.stock).toEqual({
      availability: 'MEDIUM',
      dataCenters: [
        { id: 'OURS', name: 'OURS', availability: 'NONE' },
        { id: 'US-TX-3', name: 'US-TX-3', availability: 'MEDIUM' },
      ],
      cudaVersions: [
        { version: '12.11', isAvailable: true },
        { version: '12.2', isAvailable: false },
      ],
    });
  });

  test('asked for by country lists only types that are there', () => {
    const hosts = installation(l4Host({ is: { dataCenterId: 'EU-SE-1' } }), { has: { gpus: gpus(A30, 1) } });
    expect(gpuIds(hosts, gpuQuery({ products: ['POD'], countryCodes: ['SE', 'NO'] }))).toEqual([L4]);
    expect(gpuIds(hosts, gpuQuery({ products: ['POD'], countryCodes: ['NO'] }))).toEqual([]);
  });
});

describe('CPU flavors', () => {
  const query = (fields: Partial<CpuStockQuery> = {}): CpuStockQuery => ({
    products: ['SERVERLESS'],
    vcpuCount: null,
    ...fields,
  });

  test('are those of the table', () => {
    expect(listCpuFlavors(EMPTY, null)).toEqual(SHIPPED_CATALOG.cpuFlavors.map((flavor) => ({ flavor, stock: null })));
    expect(listCpuFlavors(EMPTY, query()).map(({ stock }) => stock?.availability)).toEqual(Array(6).fill('NONE'));
    expect(findCpuFlavor(EMPTY, 'cpu9z', null)).toBeUndefined();
  });

  const small = installation({ has: { vcpus: 8, memoryBytes: 32 * GB_BYTES } });
  test.each<[string, string, Installation, Partial<CpuStockQuery>, string]>([
    ['counts vCPU', 'cpu3c', small, {}, 'MEDIUM'],
    ['counts memory', 'cpu3m', small, {}, 'LOW'],
    ['by the size asked for', 'cpu3c', small, { vcpuCount: 8 }, 'LOW'],
    ['larger than any host', 'cpu3c', small, { vcpuCount: 16 }, 'NONE'],
    ['larger than the flavor', 'cpu3c', installation({ has: { vcpus: 128 } }), { vcpuCount: 64 }, 'NONE'],
    [
      'without memory on an overcommitted host',
      'cpu3m',
      installation({ has: { isOvercommitted: true, memoryBytes: 1 } }),
      {},
      'HIGH',
    ],
    ['without hosts', 'cpu3c', EMPTY, {}, 'NONE'],
  ])('availability %s', (...[, flavorId, hosts, fields, expected]) => {
    expect(findCpuFlavor(hosts, flavorId, query(fields))?.stock?.availability).toBe(expected);
  });

  test('name the data centers with a host large enough', () => {
    const hosts = installation(
      { has: { vcpus: 4 } },
      { has: { vcpus: 2 }, is: { dataCenterId: 'A' }, taken: [{ vcpus: 2 }] },
    );
    expect(findCpuFlavor(hosts, 'cpu3c', query())?.stock?.dataCenters).toEqual([
      { id: 'A', name: 'A', availability: 'NONE' },
      { id: 'LOCAL-1', name: 'LOCAL-1', availability: 'LOW' },
    ]);
    expect(findCpuFlavor(hosts, 'cpu3c', query({ vcpuCount: 4 }))?.stock?.dataCenters).toHaveLength(1);
  });
});

describe('data centers', () => {
  const ALL: DataCenterFilter = { regions: [], networkVolumeTypes: [], compliance: [], hasGlobalNetwork: null };
  const NO_STOCK = { gpus: false, cpus: false };
  const ids = (of: Installation, filter: Partial<DataCenterFilter> = {}): string[] =>
    listDataCenters(of, { ...ALL, ...filter }, NO_STOCK).map(({ dataCenter }) => dataCenter.id);

  test('are the published ones and those of hosts that joined', () => {
    const hosts = installation(
      { is: { dataCenterId: 'ZURICH' } },
      { is: { dataCenterId: 'EU-RO-1' } },
      { is: { dataCenterId: 'BASEL', lastSeenAtMs: null } },
      { is: { dataCenterId: 'NOT-JOINED' }, has: null },
    );
    const published = SHIPPED_CATALOG.dataCenters.map(({ id }) => id);
    expect(published).toHaveLength(30);
    expect(ids(EMPTY)).toEqual(published);
    expect(ids(hosts)).toEqual([...published, 'BASEL', 'ZURICH']);
    expect(findDataCenter(hosts, 'ZURICH', NO_STOCK)?.dataCenter).toEqual({
      id: 'ZURICH',
      name: 'ZURICH',
      region: 'UNKNOWN',
      countryCode: null,
      hasGlobalNetwork: false,
      networkVolumeTypes: ['STANDARD', 'HIGH_PERFORMANCE'],
      compliance: [],
    });
    expect(findDataCenter(hosts, 'NOT-JOINED', NO_STOCK)).toBeUndefined();
  });

  test.each([
    ['EU-RO-1', 'EUROPE', 'RO'],
    ['EUR-IS-3', 'EUROPE', 'IS'],
    ['CA-MTL-2', 'NORTH_AMERICA', 'CA'],
    ['US-CA-2', 'NORTH_AMERICA', 'US'],
    ['OC-AU-1', 'OCEANIA', 'AU'],
    ['AP-JP-1', 'ASIA', 'JP'],
  ])('%s is in %s', (id, region, countryCode) => {
    expect(SHIPPED_CATALOG.dataCenter(id)).toMatchObject({ name: id, region, countryCode });
  });

  const certified = {
    ...SHIPPED_CATALOG.dataCenter('EU-RO-1'),
    hasGlobalNetwork: true,
    networkVolumeTypes: ['STANDARD'] as const,
    compliance: ['GDPR', 'HIPAA'] as const,
  };
  test.each<[string, Partial<DataCenterFilter>, boolean]>([
    ['nothing asked', {}, true],
    ['its region', { regions: ['EUROPE'] }, true],
    ['one of the regions', { regions: ['ASIA', 'EUROPE'] }, true],
    ['another region', { regions: ['ASIA'] }, false],
    ['its volumes', { networkVolumeTypes: ['STANDARD'] }, true],
    ['more volumes than it has', { networkVolumeTypes: ['STANDARD', 'HIGH_PERFORMANCE'] }, false],
    ['one of its certificates', { compliance: ['HIPAA'] }, true],
    ['all of its certificates', { compliance: ['HIPAA', 'GDPR'] }, true],
    ['one certificate too many', { compliance: ['HIPAA', 'ITAR'] }, false],
    ['a global network', { hasGlobalNetwork: true }, true],
    ['no global network', { hasGlobalNetwork: false }, false],
    ['one family that fails', { regions: ['EUROPE'], compliance: ['ITAR'] }, false],
  ])('are filtered by %s', (...[, filter, expected]) => {
    expect(matchesFilter(certified, { ...ALL, ...filter })).toBe(expected);
  });

  test('tell what their hosts have', () => {
    const hosts = installation(l4Host({ is: { dataCenterId: 'A' } }), { is: { dataCenterId: 'B' }, has: { vcpus: 2 } });
    const of = (id: string) => findDataCenter(hosts, id, { gpus: true, cpus: true });
    expect(of('A')?.gpus).toEqual([{ id: L4, name: 'L4', availability: 'MEDIUM' }]);
    expect(of('A')?.cpus).toHaveLength(6);
    expect(of('B')?.gpus).toEqual([]);
    expect(of('B')?.cpus?.[0]).toEqual({ id: 'cpu3c', name: 'Compute-Optimized', availability: 'LOW' });
    expect(of('EU-RO-1')).toMatchObject({ gpus: [], cpus: [] });
    expect(findDataCenter(hosts, 'A', NO_STOCK)).toMatchObject({ gpus: null, cpus: null });
  });
});
