import type { DesiredWorker } from '@berth/contracts';
import { expect, test } from '@jest/globals';
import { factsOf } from './desired-worker.js';

const withGpu = (gpuTypeId: string | null, gpuType?: DesiredWorker['gpuType']): DesiredWorker =>
  ({
    container: { env: {} },
    resources: { vcpus: 1, memoryBytes: 1, diskBytes: 1, gpuTypeId, gpuCount: gpuTypeId === null ? 0 : 1 },
    ...(gpuType === undefined ? {} : { gpuType }),
  }) as unknown as DesiredWorker;

test.each<[string, DesiredWorker, { readonly gpuTypeId: string | null; readonly gpuPool: string | null }]>([
  [
    "what the operator's catalog has of it",
    withGpu('Tesla T4', { id: 'T4', pool: 'TURING_16' }),
    { gpuTypeId: 'T4', gpuPool: 'TURING_16' },
  ],
  [
    'that it is in no pool',
    withGpu('NVIDIA L4', { id: 'NVIDIA L4', pool: null }),
    { gpuTypeId: 'NVIDIA L4', gpuPool: null },
  ],
  [
    'by an older control plane the shipped pool',
    withGpu('NVIDIA L4'),
    { gpuTypeId: 'NVIDIA L4', gpuPool: 'AMPERE_24' },
  ],
  ['without one nothing', withGpu(null), { gpuTypeId: null, gpuPool: null }],
])('a worker is told of its card %s', (...[, assigned, facts]) => {
  expect(factsOf(assigned, 'LOCAL-1', {})).toMatchObject(facts);
});
