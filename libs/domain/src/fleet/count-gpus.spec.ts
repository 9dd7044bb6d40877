import { expect, test } from '@jest/globals';
import { HOST_LOST_MS, type Host } from '../host/index.js';
import type { HostId } from '../ids.js';
import type { Worker, WorkerPhase } from '../worker/index.js';
import { countGpus } from './count-gpus.js';

const NOW_MS = 1_000_000;
const AT = { observingSinceMs: 0, nowMs: NOW_MS };

const host = (id: string, typeIds: readonly string[], lastSeenAtMs: number = NOW_MS): [HostId, Host] => [
  id as HostId,
  { id, lastSeenAtMs, inventory: { gpus: typeIds.map((typeId, index) => ({ index, typeId })) } } as unknown as Host,
];

const worker = (
  hostId: string,
  [gpuTypeId, gpuCount]: readonly [string, number],
  phase: WorkerPhase | null = 'busy',
): Worker =>
  ({ hostId, resources: { gpuTypeId, gpuCount }, observed: phase === null ? null : { phase } }) as unknown as Worker;

const counted = (hosts: readonly [HostId, Host][], workers: readonly Worker[]): Record<string, number> =>
  Object.fromEntries(
    countGpus({ hosts: new Map(hosts), workers }, AT).map(({ gpuTypeId, use, count }) => [
      `${gpuTypeId} ${use}`,
      count,
    ]),
  );

test('each GPU is one of busy, idle, paused and lost', () => {
  const hosts = [host('h1', ['A', 'A', 'A', 'B']), host('h2', ['A', 'A'], NOW_MS - HOST_LOST_MS)];
  const workers = [
    worker('h1', ['A', 1]),
    worker('h1', ['A', 1], 'paused'),
    worker('h2', ['A', 2]),
    worker('h1', ['B', 1], null),
  ];
  expect(counted(hosts, workers)).toEqual({
    ...{ 'A busy': 1, 'A paused': 1, 'A idle': 1, 'A lost': 2 },
    ...{ 'B busy': 1, 'B paused': 0, 'B idle': 0, 'B lost': 0 },
  });
});

test('a host that lost a card under its workers is not said to have fewer than none', () => {
  expect(counted([host('h1', ['A'])], [worker('h1', ['A', 2]), worker('h1', ['A', 1], 'paused')])).toEqual({
    ...{ 'A busy': 1, 'A paused': 0, 'A idle': 0, 'A lost': 0 },
  });
});

test('while nobody has listened long enough no GPU is called lost', () => {
  const hosts = new Map([host('h1', ['A'], 0)]);
  const told = countGpus({ hosts, workers: [] }, { observingSinceMs: NOW_MS - 1, nowMs: NOW_MS });
  expect(told).toContainEqual({ gpuTypeId: 'A', use: 'lost', count: 0 });
  expect(told).toContainEqual({ gpuTypeId: 'A', use: 'idle', count: 1 });
});

test('hosts that have not joined have none, and names without end are counted together', () => {
  const [id, empty] = host('h0', []);
  const names = Array.from({ length: 150 }, (_, index) => `type ${String(index)}`);
  const told = countGpus({ hosts: new Map([[id, { ...empty, inventory: null }], host('h1', names)]), workers: [] }, AT);
  expect(new Set(told.map(({ gpuTypeId }) => gpuTypeId)).size).toBe(101);
  expect(told).toContainEqual({ gpuTypeId: '_other', use: 'idle', count: 50 });
});
