import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import { acceptsCudaVersion, selectGpu } from '../hardware-request/index.js';
import type { Host } from '../host/index.js';
import type { HostId } from '../ids.js';
import type { WorkerResources } from '../worker/index.js';
import type { Unplaced } from './describe-refusal.js';
import { HostRoom } from './host-room.js';
import { placeWorker, type Placed } from './place-worker.js';
import type { PlacementRequest } from './placement-request.js';
import { GB_BYTES } from './worker-resources.js';

const NOW = 1_000_000;
const TYPES = ['NVIDIA GeForce RTX 4090', 'NVIDIA A40', 'NVIDIA RTX A6000', 'some other card'];
const CUDA = ['11.8', '12.2', '12.11'];

const hosts: fc.Arbitrary<readonly Host[]> = fc.uniqueArray(
  fc.record({
    id: fc.stringMatching(/^h[a-z0-9]{1,3}$/).map((id) => id as HostId),
    name: fc.constant('host'),
    dataCenterId: fc.constantFrom('A', 'B'),
    labels: fc.constant({}),
    intent: fc.constantFrom('ready' as const, 'ready' as const, 'cordoned' as const, 'draining' as const),
    lastSeenAtMs: fc.option(fc.integer({ min: NOW - 20_000, max: NOW }), { freq: 9 }),
    inventory: fc.option(
      fc.record({
        vcpus: fc.integer({ min: 1, max: 64 }),
        isOvercommitted: fc.constant(false),
        memoryBytes: fc.integer({ min: 1, max: 256 }).map((gb) => gb * GB_BYTES),
        diskBytes: fc.integer({ min: 1, max: 200 }).map((gb) => gb * GB_BYTES),
        gpus: fc
          .array(fc.constantFrom(...TYPES), { maxLength: 6 })
          .map((types) => types.map((typeId, index) => ({ index, typeId, memoryBytes: GB_BYTES }))),
        areGpusSimulated: fc.boolean(),
        cudaVersion: fc.option(fc.constantFrom(...CUDA)),
        runtime: fc.constant('docker' as const),
        images: fc.subarray(['one', 'two']),
      }),
      { freq: 9 },
    ),
  }),
  { selector: ({ id }) => id, maxLength: 5 },
);

const cuda = fc.oneof(
  fc.record({ allowedCudaVersions: fc.subarray(CUDA), minCudaVersion: fc.constant(null) }),
  fc.record({ allowedCudaVersions: fc.constant([]), minCudaVersion: fc.constantFrom(...CUDA) }),
);

const compute: fc.Arbitrary<Pick<PlacementRequest, 'gpu' | 'cpu'>> = fc.oneof(
  fc
    .record({
      pools: fc.shuffledSubarray(['ADA_24', 'AMPERE_48', ...SHIPPED_CATALOG.gpuPools.slice(0, 1)], { minLength: 1 }),
      excludedTypes: fc.subarray(['NVIDIA A40']),
      count: fc.integer({ min: 1, max: 3 }),
      cuda,
    })
    .map(({ cuda: versions, ...fields }) => ({ gpu: { ...fields, ...versions }, cpu: null })),
  fc
    .array(fc.record({ flavorId: fc.constantFrom('cpu3c', 'cpu3m'), vcpuCount: fc.constantFrom(2, 4, 16) }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((cpu) => ({ gpu: null, cpu })),
);

const request: fc.Arbitrary<PlacementRequest> = fc
  .record({
    compute,
    dataCenterIds: fc.shuffledSubarray(['A', 'B']),
    volumeDataCenterIds: fc.shuffledSubarray(['A', 'B']),
    image: fc.constantFrom('one', 'two', 'three'),
    diskGb: fc.option(fc.integer({ min: 1, max: 60 })),
    siblings: fc.option(fc.array(fc.tuple(fc.nat(4), fc.constantFrom(...TYPES)), { maxLength: 6 })),
  })
  .map(({ compute: kind, siblings, ...rest }) => ({
    catalog: SHIPPED_CATALOG,
    ...rest,
    ...kind,
    ...apartFrom(siblings),
  }));

function apartFrom(siblings: readonly (readonly [host: number, type: string])[] | null) {
  if (siblings === null) return {};
  const count = <T>(names: readonly T[]): ReadonlyMap<T, number> =>
    new Map([...Map.groupBy(names, (name) => name)].map(([name, same]) => [name, same.length]));
  const byHost = count(siblings.map(([at]) => `h${at}` as HostId));
  return { apartFrom: { byHost, byGpuType: count(siblings.map(([, type]) => type)) } };
}

type Taken = ReadonlyMap<HostId, readonly WorkerResources[]>;

const placeIn = (all: readonly Host[], wanted: PlacementRequest, taken: Taken): Placed | Unplaced =>
  placeWorker(
    wanted,
    all.map((host) => ({ host, taken: taken.get(host.id) ?? [] })),
    NOW,
  );

/** Places one request after the other, each seeing what those before it took. */
function placeAll(all: readonly Host[], requests: readonly PlacementRequest[]): Taken {
  return requests.reduce<Taken>((taken, wanted) => {
    const placement = placeIn(all, wanted, taken);
    if (placement.kind === 'unplaced') return taken;
    return new Map(taken).set(placement.hostId, [...(taken.get(placement.hostId) ?? []), placement.resources]);
  }, new Map());
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

test('no host is ever given more than it has, GPU by GPU type included', () => {
  fc.assert(
    fc.property(hosts, fc.array(request, { maxLength: 12 }), (all, requests) => {
      for (const [hostId, taken] of placeAll(all, requests)) {
        const has = all.find(({ id }) => id === hostId)?.inventory;
        expect(has).toBeDefined();
        if (has === undefined || has === null) return;
        expect(sum(taken.map(({ vcpus }) => vcpus))).toBeLessThanOrEqual(has.vcpus);
        expect(sum(taken.map(({ memoryBytes }) => memoryBytes))).toBeLessThanOrEqual(has.memoryBytes);
        expect(sum(taken.map(({ diskBytes }) => diskBytes))).toBeLessThanOrEqual(has.diskBytes);
        for (const typeId of TYPES) {
          const used = sum(taken.filter(({ gpuTypeId }) => gpuTypeId === typeId).map(({ gpuCount }) => gpuCount));
          expect(used).toBeLessThanOrEqual(has.gpus.filter((gpu) => gpu.typeId === typeId).length);
        }
      }
    }),
  );
});

test('the chosen host meets every condition of the request', () => {
  fc.assert(
    fc.property(hosts, fc.array(request, { maxLength: 4 }), request, (all, before, wanted) => {
      const placement = placeIn(all, wanted, placeAll(all, before));
      if (placement.kind === 'unplaced') {
        expect(placement.hosts.map(({ id }) => id).toSorted()).toEqual(all.map(({ id }) => id).toSorted());
        return;
      }
      const host = all.find(({ id }) => id === placement.hostId);
      expect(host?.intent).toBe('ready');
      expect(NOW - (host?.lastSeenAtMs ?? 0)).toBeLessThan(15_000);
      if (wanted.dataCenterIds.length > 0) expect(wanted.dataCenterIds).toContain(host?.dataCenterId);
      if (wanted.volumeDataCenterIds.length > 0) expect(wanted.volumeDataCenterIds).toContain(host?.dataCenterId);
      if (wanted.gpu === null) {
        expect(placement.gpuTypeId).toBeNull();
        expect(wanted.cpu?.map(({ flavorId }) => flavorId)).toContain(placement.flavorId);
      } else {
        const eligible = selectGpu(wanted.gpu, SHIPPED_CATALOG).candidates.map(({ typeId }) => typeId);
        expect(eligible).toContain(placement.gpuTypeId);
        expect(placement.resources.gpuCount).toBe(wanted.gpu.count);
        expect(acceptsCudaVersion(wanted.gpu, host?.inventory?.cudaVersion ?? null)).toBe(true);
      }
    }),
  );
});

test('the same question has the same answer, whatever the order of the hosts', () => {
  const shuffled = hosts.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray([...all], { minLength: all.length })),
  );
  fc.assert(
    fc.property(shuffled, fc.array(request, { maxLength: 3 }), request, ([all, again], before, wanted) => {
      const taken = placeAll(all, before);
      expect(placeIn(again, wanted, taken)).toEqual(placeIn(all, wanted, taken));
    }),
  );
});

test('a worker that fits an empty cluster one by one is refused only for a reason that a host really has', () => {
  fc.assert(
    fc.property(hosts, request, (all, wanted) => {
      const placement = placeIn(all, wanted, new Map());
      const oneByOne = all.map((host) => placeIn([host], wanted, new Map()).kind);
      expect(placement.kind).toBe(oneByOne.includes('placed') ? 'placed' : 'unplaced');
    }),
  );
});

test('counting along what is left has the same answers as counting anew', () => {
  fc.assert(
    fc.property(hosts, fc.array(request, { maxLength: 8 }), request, (all, before, wanted) => {
      const rooms = all.map((host) => new HostRoom(host, []));
      for (const each of before) {
        const placement = placeWorker(each, rooms, NOW);
        if (placement.kind === 'placed')
          rooms.find(({ host }) => host.id === placement.hostId)?.take(placement.resources);
      }
      expect(placeWorker(wanted, rooms, NOW)).toEqual(placeIn(all, wanted, placeAll(all, before)));
    }),
  );
});
