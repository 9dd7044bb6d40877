import { expect, test } from '@jest/globals';
import type { EndpointPlan } from '../fleet/index.js';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { Unplaced } from '../placement/index.js';
import { shortagesIn } from './shortages.js';

const NOW_MS = 60_000;
const CPU = { gpu: null, cpu: [{ flavorId: 'cpu3c', vcpuCount: 2 }] };
const GPU = {
  gpu: { pools: ['ADA_24'], excludedTypes: [], count: 2, allowedCudaVersions: [], minCudaVersion: null },
  cpu: null,
};
const IN_OTHERS = { ...CPU, dataCenterIds: ['OTHER-1'] };

interface Wish {
  readonly spec?: object;
  readonly reason?: Unplaced['reason'];
  readonly volumeDataCenterIds?: readonly string[];
}

const planOf = ({ reason = 'vcpu', spec = CPU, volumeDataCenterIds = [] }: Wish): EndpointPlan =>
  ({
    kind: 'staff',
    endpoint: {
      ...{ id: 'e1', accountId: 'a1', volumeDataCenterIds },
      spec: { dataCenterIds: [], container: { image: 'echo', diskGb: null }, ...spec },
    },
    unplaced: { count: 3, why: { kind: 'unplaced', reason, detail: '', hosts: [] } },
    waiting: [{ since: '1970-01-01T00:00:30.000Z' }],
  }) as unknown as EndpointPlan;

const shortages = (wish: Wish) =>
  shortagesIn([planOf(wish)], { catalog: SHIPPED_CATALOG, dataCenterId: 'LOCAL-1', nowMs: NOW_MS });

test('a CPU worker without a place wants what its flavor says, and the usual disk', () => {
  expect(shortages({})).toEqual([
    {
      ...{ endpointId: 'e1', accountId: 'a1', count: 3, sinceMs: 30_000 },
      wants: { vcpus: 2, memoryBytes: 4 * 2 ** 30, diskBytes: 10 * 2 ** 30, gpuCount: 0, gpuTypeIds: [] },
    },
  ]);
});

test('a GPU worker wants its cards, of any of its types, and else the least that would do', () => {
  const [shortage] = shortages({ spec: GPU });
  expect(shortage?.wants).toMatchObject({ vcpus: 2, memoryBytes: 2 * 2 ** 30, gpuCount: 2 });
  expect(shortage?.wants.gpuTypeIds).toEqual(expect.arrayContaining(['NVIDIA GeForce RTX 4090']));
});

test.each<[string, Wish]>([
  ['that a limit of its account forbids', { reason: 'account-quota' }],
  ['of which there is no kind', { reason: 'no-eligible-type' }],
  ['whose volume is elsewhere', { reason: 'network-volume' }],
  ['that wants another data center', { spec: IN_OTHERS }],
  ['whose volumes lie in another data center', { volumeDataCenterIds: ['OTHER-1'] }],
])('a worker %s is not helped by a new node', (_, wish) => {
  expect(shortages(wish)).toEqual([]);
});

test('an endpoint whose workers all have a place, or that is forgotten, wants nothing', () => {
  const placed = { ...planOf({}), unplaced: null } as EndpointPlan;
  const forgotten = { kind: 'forget', endpoint: {} } as EndpointPlan;
  const around = { catalog: SHIPPED_CATALOG, dataCenterId: 'LOCAL-1', nowMs: NOW_MS };
  expect(shortagesIn([placed, forgotten], around)).toEqual([]);
});
