import { describe, expect, test } from '@jest/globals';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { GpuRequest } from '../hardware-request/index.js';
import type { Host, Inventory } from '../host/index.js';
import type { HostId } from '../ids.js';
import type { WorkerResources } from '../worker/index.js';
import type { HostLoad } from './free-resources.js';
import { placeWorker } from './place-worker.js';
import { besideSiblings, type PlacementRequest } from './placement-request.js';
import { GB_BYTES } from './worker-resources.js';

const NOW = 1_000_000;
const RTX_4090 = 'NVIDIA GeForce RTX 4090';
const A40 = 'NVIDIA A40';
const A6000 = 'NVIDIA RTX A6000';

const gpus = (...types: readonly string[]): Inventory['gpus'] =>
  types.map((typeId, index) => ({ index, typeId, memoryBytes: 24 * GB_BYTES }));

const inventory = (fields: Partial<Inventory> = {}): Inventory => ({
  vcpus: 32,
  isOvercommitted: false,
  memoryBytes: 128 * GB_BYTES,
  diskBytes: 500 * GB_BYTES,
  gpus: gpus(RTX_4090, RTX_4090),
  areGpusSimulated: false,
  cudaVersion: '12.4',
  runtime: 'docker',
  images: [],
  ...fields,
});

const host = (id: string, has: Partial<Inventory> | null = {}, fields: Partial<Host> = {}): Host => ({
  id: id as HostId,
  name: id,
  dataCenterId: 'LOCAL-1',
  labels: {},
  intent: 'ready',
  inventory: has === null ? null : inventory(has),
  lastSeenAtMs: NOW,
  ...fields,
});

const load = (the: Host, ...taken: readonly WorkerResources[]): HostLoad => ({ host: the, taken });

const takes = (fields: Partial<WorkerResources>): WorkerResources => ({
  vcpus: 0,
  memoryBytes: 0,
  diskBytes: 0,
  gpuTypeId: null,
  gpuCount: 0,
  ...fields,
});

const gpu = (fields: Partial<GpuRequest> = {}): GpuRequest => ({
  pools: ['ADA_24'],
  excludedTypes: [],
  count: 1,
  allowedCudaVersions: [],
  minCudaVersion: null,
  ...fields,
});

const request = (fields: Partial<PlacementRequest> = {}): PlacementRequest => ({
  catalog: SHIPPED_CATALOG,
  gpu: gpu(),
  cpu: null,
  dataCenterIds: [],
  volumeDataCenterIds: [],
  image: 'example/worker:1',
  diskGb: null,
  ...fields,
});

const LIES_HERE = { id: 'v1', dataCenterId: 'LOCAL-1', storageId: 'nfs1' };

const CPU: Partial<PlacementRequest> = { gpu: null, cpu: [{ flavorId: 'cpu3g', vcpuCount: 4 }] };

const whereTo = (wanted: PlacementRequest, hosts: readonly HostLoad[]): string => {
  const placement = placeWorker(wanted, hosts, NOW);
  return placement.kind === 'placed' ? placement.hostId : placement.reason;
};

describe('a host is refused', () => {
  test.each<[string, Partial<PlacementRequest>, Host, readonly WorkerResources[], RegExp]>([
    ['host-not-joined', {}, host('h', null), [], /has not joined/],
    ['host-silent', {}, host('h', {}, { lastSeenAtMs: NOW - 15_000 }), [], /not been heard of/],
    ['host-silent', {}, host('h', {}, { lastSeenAtMs: null }), [], /not been heard of/],
    ['host-draining', {}, host('h', {}, { intent: 'draining' }), [], /drained/],
    ['host-cordoned', {}, host('h', {}, { intent: 'cordoned' }), [], /cordoned/],
    ['data-center', { dataCenterIds: ['EU-1', 'EU-2'] }, host('h'), [], /is in LOCAL-1, not in EU-1, EU-2/],
    ['network-volume', { volumeDataCenterIds: ['EU-2', 'EU-1'] }, host('h'), [], /volumes lie in EU-2, EU-1/],
    ['network-volume', { volumes: [LIES_HERE] }, host('h'), [], /offers no storage for network volumes/],
    ['network-volume', { volumes: [LIES_HERE] }, host('h', { volumes: null }), [], /offers no storage/],
    [
      'network-volume',
      { volumes: [LIES_HERE] },
      host('h', { volumes: { storageId: 'other' } }),
      [],
      /network volume v1 lies on storage nfs1, the host has other/,
    ],
    ['gpu-type', { gpu: gpu({ pools: ['HOPPER_141'] }) }, host('h'), [], /only NVIDIA GeForce RTX 4090/],
    ['gpu-type', {}, host('h', { gpus: [] }), [], /none at all/],
    [
      'gpu-type',
      { gpu: gpu({ pools: ['AMPERE_48'], excludedTypes: [A40] }) },
      host('h', { gpus: gpus(A40) }),
      [],
      /no GPU of the wanted types/,
    ],
    ['cuda-version', { gpu: gpu({ allowedCudaVersions: ['12.5'] }) }, host('h'), [], /offers CUDA 12.4/],
    ['cuda-version', { gpu: gpu({ minCudaVersion: '12.11' }) }, host('h'), [], /offers CUDA 12.4/],
    ['cuda-version', { gpu: gpu({ minCudaVersion: '11.8' }) }, host('h', { cudaVersion: null }), [], /reports no CUDA/],
    ['gpu-count', { gpu: gpu({ count: 3 }) }, host('h'), [], /needs 3 × .* the host has 2/],
    [
      'gpu-count',
      { gpu: gpu({ pools: ['AMPERE_48'], count: 2 }) },
      host('h', { gpus: gpus(A40, A6000) }),
      [],
      /needs 2 × NVIDIA A40, the host has 1/,
    ],
    [
      'gpu-busy',
      { gpu: gpu({ count: 2 }) },
      host('h'),
      [takes({ gpuTypeId: RTX_4090, gpuCount: 1 })],
      /needs 2 × .* 1 are free/,
    ],
    ['vcpu', {}, host('h'), [takes({ vcpus: 29 })], /needs 4 vCPU, 3 are free/],
    ['vcpu', CPU, host('h'), [takes({ vcpus: 29 })], /needs 4 vCPU, 3 are free/],
    ['memory', CPU, host('h'), [takes({ memoryBytes: 120 * GB_BYTES })], /needs 16.0 GB of memory, 8.0 GB are free/],
    ['disk', { diskGb: 501 }, host('h'), [], /needs 501.0 GB of disk, 500.0 GB are free/],
    ['disk', {}, host('h'), [takes({ diskBytes: 491 * GB_BYTES })], /needs 10.0 GB of disk, 9.0 GB are free/],
  ])('with %s', (...[reason, wanted, the, taken, detail]) => {
    expect(placeWorker(request(wanted), [load(the, ...taken)], NOW)).toEqual({
      kind: 'unplaced',
      reason,
      detail: expect.stringMatching(/^one host was looked at; h came nearest: /),
      hosts: [{ id: 'h', reason, detail: expect.stringMatching(detail) }],
    });
  });

  test('and the answer names the one that came nearest, and all the others', () => {
    const hosts = [
      load(host('b'), takes({ gpuTypeId: RTX_4090, gpuCount: 2 })),
      load(host('c', { gpus: [] })),
      load(host('a', null)),
    ];
    const placement = placeWorker(request(), hosts, NOW);
    expect(placement).toMatchObject({ kind: 'unplaced', reason: 'gpu-busy' });
    expect(placement.kind === 'unplaced' ? placement.hosts.map(({ id, reason }) => [id, reason]) : []).toEqual([
      ['a', 'host-not-joined'],
      ['b', 'gpu-busy'],
      ['c', 'gpu-type'],
    ]);
    expect(placement.kind === 'unplaced' ? placement.detail : '').toMatch(/^3 hosts were looked at; b came nearest: /);
  });

  test('without hosts, or with nothing to look for, the answer says so', () => {
    expect(placeWorker(request(), [], NOW)).toMatchObject({ kind: 'unplaced', reason: 'no-hosts', hosts: [] });
    const nothing = request({ gpu: gpu({ excludedTypes: [RTX_4090] }) });
    expect(placeWorker(nothing, [load(host('h'))], NOW)).toMatchObject({ reason: 'no-eligible-type' });
  });
});

describe('the best host', () => {
  test.each<[string, Partial<PlacementRequest>, readonly HostLoad[], string]>([
    [
      'has the pool that was named first',
      { gpu: gpu({ pools: ['AMPERE_48', 'ADA_24'] }) },
      [load(host('a')), load(host('b', { gpus: gpus(A40) }))],
      'b',
    ],
    [
      'else the next pool',
      { gpu: gpu({ pools: ['AMPERE_48', 'ADA_24'] }) },
      [load(host('a')), load(host('b', { gpus: gpus(A40) }), takes({ gpuTypeId: A40, gpuCount: 1 }))],
      'a',
    ],
    [
      'has the type that was named first, where types were named',
      { gpu: gpu({ pools: ['AMPERE_48'], preferredTypes: [A6000] }) },
      [load(host('a', { gpus: gpus(A40) })), load(host('b', { gpus: gpus(A6000) }))],
      'b',
    ],
    [
      'is in the data center that was named first',
      { dataCenterIds: ['EU-1', 'LOCAL-1'] },
      [load(host('a')), load(host('b', {}, { dataCenterId: 'EU-1' }))],
      'b',
    ],
    [
      'is in the data center of the volume that was named first, though another has the image',
      { volumeDataCenterIds: ['EU-1', 'LOCAL-1'] },
      [load(host('a', { images: ['example/worker:1'] })), load(host('b', {}, { dataCenterId: 'EU-1' }))],
      'b',
    ],
    [
      'else in that of the next volume',
      { volumeDataCenterIds: ['EU-1', 'LOCAL-1'] },
      [
        load(host('a')),
        load(host('b', { gpus: [] }, { dataCenterId: 'EU-1' })),
        load(host('c', {}, { dataCenterId: 'EU-2' })),
      ],
      'a',
    ],
    ['has the image', {}, [load(host('a')), load(host('b', { images: ['example/worker:1'] }))], 'b'],
    ['is the fullest', {}, [load(host('a')), load(host('b'), takes({ gpuTypeId: RTX_4090, gpuCount: 1 }))], 'b'],
    ['has no GPU, for a CPU worker', CPU, [load(host('a')), load(host('b', { gpus: [] }))], 'b'],
    [
      'takes the first flavor that fits anywhere',
      {
        gpu: null,
        cpu: [
          { flavorId: 'cpu3m', vcpuCount: 32 },
          { flavorId: 'cpu3c', vcpuCount: 2 },
        ],
      },
      [load(host('a')), load(host('b', { memoryBytes: 512 * GB_BYTES }))],
      'b',
    ],
    ['is the first by id among equals', {}, [load(host('b')), load(host('a'))], 'a'],
  ])('%s', (...[, wanted, hosts, expected]) => {
    expect(whereTo(request(wanted), hosts)).toBe(expected);
    expect(whereTo(request(wanted), hosts.toReversed())).toBe(expected);
  });
});

describe('workers that keep apart', () => {
  const max = (workers: number) => ({ workers: { min: 0, max: workers, idleTimeoutSeconds: 5 } });
  const at = (hostId: string, gpuTypeId: string | null = RTX_4090) => ({
    hostId: hostId as HostId,
    resources: takes({ gpuTypeId, gpuCount: gpuTypeId === null ? 0 : 1 }),
  });
  const nextOf = (fields: Partial<PlacementRequest>, workersMax: number, siblings: readonly ReturnType<typeof at>[]) =>
    besideSiblings(request(fields), max(workersMax), siblings);
  const withImage = { images: ['example/worker:1'] };

  test('go to the host with the fewest of them, image or not, from five of the maximum on', () => {
    const hosts = [load(host('a', withImage)), load(host('b')), load(host('c'))];
    expect(whereTo(nextOf({}, 4, [at('a')]), hosts)).toBe('a');
    expect(whereTo(nextOf({}, 5, [at('a')]), hosts)).toBe('b');
    expect(whereTo(nextOf({}, 5, [at('a'), at('b')]), hosts)).toBe('c');
    expect(whereTo(nextOf({}, 5, [at('a'), at('b'), at('c')]), hosts)).toBe('a');
    expect(whereTo(nextOf(CPU, 5, [at('a', null)]), hosts)).toBe('b');
  });

  test('take turns among GPU priorities, whichever type of a pool they have', () => {
    const wanted = { gpu: gpu({ pools: ['AMPERE_48', 'ADA_24'] }) };
    const hosts = [load(host('ada')), load(host('ampere', { gpus: gpus(A40, A6000, A6000) }))];
    expect(whereTo(nextOf(wanted, 5, []), hosts)).toBe('ampere');
    expect(whereTo(nextOf(wanted, 5, [at('ampere', A6000)]), hosts)).toBe('ada');
    expect(whereTo(nextOf(wanted, 5, [at('ampere', A6000), at('ada')]), hosts)).toBe('ampere');
    expect(whereTo(nextOf(wanted, 4, [at('ampere', A6000)]), hosts)).toBe('ampere');
  });

  test('keep to the data center that was named first', () => {
    const hosts = [load(host('a')), load(host('b', {}, { dataCenterId: 'EU-1' }))];
    expect(whereTo(nextOf({ dataCenterIds: ['LOCAL-1', 'EU-1'] }, 5, [at('a')]), hosts)).toBe('a');
  });
});

test.each<[string, NonNullable<PlacementRequest['volumes']>]>([
  ['lies on its storage', [LIES_HERE]],
  ['lies nowhere yet', [{ ...LIES_HERE, storageId: null }]],
  ['lies elsewhere, and another one is for workers here', [{ ...LIES_HERE, dataCenterId: 'EU-1', storageId: 'x' }]],
  ['comes after one that can be had', [LIES_HERE, { ...LIES_HERE, id: 'v2', storageId: 'x' }]],
])('a host is taken whose network volume %s', (_, volumes) => {
  expect(whereTo(request({ volumes }), [load(host('h', { volumes: { storageId: 'nfs1' } }))])).toBe('h');
});

describe('what a worker takes', () => {
  test('per GPU 4 vCPU and 16 GB where the host has plenty', () => {
    expect(placeWorker(request({ gpu: gpu({ count: 2 }), diskGb: 40 }), [load(host('h'))], NOW)).toMatchObject({
      gpuTypeId: RTX_4090,
      flavorId: null,
      resources: {
        vcpus: 8,
        memoryBytes: 32 * GB_BYTES,
        diskBytes: 40 * GB_BYTES,
        gpuTypeId: RTX_4090,
        gpuCount: 2,
      },
    });
  });

  test('never more than the even share of a GPU, so that a small host can use all of its GPUs', () => {
    const small = host('h', { vcpus: 4, memoryBytes: 8 * GB_BYTES });
    const first = placeWorker(request(), [load(small)], NOW);
    expect(first).toMatchObject({ resources: { vcpus: 2, memoryBytes: 4 * GB_BYTES } });
    const taken = first.kind === 'placed' ? [first.resources] : [];
    expect(placeWorker(request(), [load(small, ...taken)], NOW).kind).toBe('placed');
  });

  test('a CPU worker its vCPU, and memory by its flavor', () => {
    expect(placeWorker(request(CPU), [load(host('h'))], NOW)).toMatchObject({
      gpuTypeId: null,
      flavorId: 'cpu3g',
      resources: { vcpus: 4, memoryBytes: 16 * GB_BYTES, diskBytes: 10 * GB_BYTES, gpuTypeId: null, gpuCount: 0 },
    });
  });

  test('a later flavor when the first fits nowhere', () => {
    const cpu = [
      { flavorId: 'cpu3m', vcpuCount: 32 },
      { flavorId: 'cpu3c', vcpuCount: 2 },
    ];
    expect(placeWorker(request({ gpu: null, cpu }), [load(host('h'))], NOW)).toMatchObject({ flavorId: 'cpu3c' });
  });

  test('an overcommitted host counts vCPU and GPUs only', () => {
    const laptop = host('h', { isOvercommitted: true, memoryBytes: 8 * GB_BYTES, diskBytes: 5 * GB_BYTES });
    expect(whereTo(request(CPU), [load(laptop, takes({ memoryBytes: 8 * GB_BYTES }))])).toBe('h');
    expect(whereTo(request(CPU), [load(laptop, takes({ vcpus: 29 }))])).toBe('vcpu');
    expect(whereTo(request(), [load(laptop, takes({ gpuTypeId: RTX_4090, gpuCount: 2 }))])).toBe('gpu-busy');
  });
});
