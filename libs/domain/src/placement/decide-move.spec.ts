import { describe, expect, test } from '@jest/globals';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { Host } from '../host/index.js';
import type { EndpointId, HostId, WorkerId } from '../ids.js';
import type { ObservedWorker, Worker, WorkerPhase } from '../worker/index.js';
import { FAILED_HOSTS_MAX, decideMove, failedHosts, type MoveDecision } from './decide-move.js';
import type { HostLoad } from './free-resources.js';
import type { PlacementRequest } from './placement-request.js';
import { GB_BYTES } from './worker-resources.js';

const NOW = 1_000_000;

const hostOf = (id: string, vcpus = 32): HostLoad => {
  const host: Host = {
    id: id as HostId,
    name: id,
    dataCenterId: 'LOCAL-1',
    labels: {},
    intent: 'ready',
    inventory: {
      vcpus,
      isOvercommitted: false,
      memoryBytes: 128 * GB_BYTES,
      diskBytes: 500 * GB_BYTES,
      gpus: [],
      areGpusSimulated: false,
      cudaVersion: null,
      runtime: 'docker',
      images: [],
    },
    lastSeenAtMs: NOW,
  };
  return { host, taken: [] };
};

const request: PlacementRequest = {
  catalog: SHIPPED_CATALOG,
  gpu: null,
  cpu: [{ flavorId: 'cpu3c', vcpuCount: 2 }],
  dataCenterIds: [],
  volumeDataCenterIds: [],
  image: 'local/echo',
  diskGb: null,
};

interface Given extends Partial<Pick<Worker, 'failedOn' | 'intent'>> {
  readonly hostId?: string;
  readonly phase?: WorkerPhase;
  readonly failedStarts?: number;
}

const workerOf = ({
  failedStarts = 3,
  hostId = 'h1',
  phase = 'waiting',
  intent = 'running',
  failedOn,
}: Given = {}): Worker => {
  const identity = { endpointId: 'e1' as EndpointId, release: 1 };
  const observed: ObservedWorker = {
    ...identity,
    workerId: 'w' as WorkerId,
    phase,
    reason: '',
    runningJobs: 0,
    failedStarts,
    phaseSinceMs: NOW,
    startedAtMs: null,
    gpuTypeId: null,
  };
  const resources = { vcpus: 2, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };
  const worker = {
    ...identity,
    id: 'w' as WorkerId,
    hostId: hostId as HostId,
    intent,
    createdAtMs: 0,
    resources,
    observed,
  };
  return failedOn === undefined ? worker : { ...worker, failedOn };
};

const decide = (worker: Worker, hosts: readonly HostLoad[], siblings: readonly Worker[] = [worker]): MoveDecision =>
  decideMove({ worker, siblings, request, hosts }, NOW);

describe('a worker that fails', () => {
  test.each<[string, Worker]>([
    ['twice', workerOf({ failedStarts: 2 })],
    ['three times, and is being started again', workerOf({ phase: 'starting' })],
    ['three times, and leaves', workerOf({ intent: 'drained' })],
    ['never', workerOf({ phase: 'idle', failedStarts: 0 })],
  ])('%s is left alone', (_, worker) => {
    expect(decide(worker, [hostOf('h1'), hostOf('h2')])).toEqual({ kind: 'leave-alone' });
  });

  test.each<[string, Worker, readonly HostLoad[], readonly Worker[], MoveDecision]>([
    [
      'another host can take it',
      workerOf(),
      [hostOf('h1'), hostOf('h2')],
      [],
      { kind: 'move', because: 'it has failed 3 times in a row on host h1; host h2 can take it' },
    ],
    [
      'there is no other host',
      workerOf(),
      [hostOf('h1')],
      [],
      { kind: 'stay', because: 'it has failed 3 times in a row on host h1 and stays there: there is no other host' },
    ],
    [
      'no other host has room',
      workerOf({ phase: 'unhealthy', failedStarts: 9 }),
      [hostOf('h1'), hostOf('h2', 1)],
      [],
      {
        kind: 'stay',
        because:
          'it has failed 3 times in a row on host h1 and stays there, since no other can take it: ' +
          'one host was looked at; h2 came nearest: the worker needs 2 vCPU, 1 are free',
      },
    ],
    [
      'it came from where it failed before',
      workerOf({ hostId: 'h2', failedOn: ['h1' as HostId] }),
      [hostOf('h1'), hostOf('h2')],
      [],
      {
        kind: 'stay',
        because: 'it has failed 3 times in a row on host h2 and stays there: it failed on every other host as well',
      },
    ],
    [
      'the only other host fails its sibling',
      workerOf(),
      [hostOf('h1'), hostOf('h2')],
      [workerOf({ hostId: 'h2', phase: 'unhealthy', failedStarts: 5 })],
      {
        kind: 'stay',
        because: 'it has failed 3 times in a row on host h1 and stays there: it failed on every other host as well',
      },
    ],
  ])('three times in a row: %s', (...[, worker, hosts, siblings, expected]) => {
    expect(decide(worker, hosts, [worker, ...siblings])).toEqual(expected);
  });
});

test('hosts that failed are remembered by those who came from there, and by those who still fail', () => {
  const failedOn = ['h1' as HostId];
  const workers = [workerOf({ hostId: 'h2', phase: 'idle', failedStarts: 0, failedOn }), workerOf({ hostId: 'h3' })];
  expect(failedHosts(workers)).toEqual(['h1', 'h3']);
  expect(failedHosts([workerOf({ failedStarts: 2 })])).toEqual([]);
});

test('a worker that has failed on as many hosts as it remembers moves no more', () => {
  const hosts = Array.from({ length: FAILED_HOSTS_MAX + 2 }, (_, order) => hostOf(`h${order}`));
  const failedOn = hosts.slice(0, FAILED_HOSTS_MAX).map(({ host }) => host.id);
  const worker = workerOf({ hostId: `h${FAILED_HOSTS_MAX}`, failedOn });
  expect(decide(worker, hosts, [worker])).toMatchObject({ kind: 'stay' });
  expect(decide({ ...worker, failedOn: failedOn.slice(1) }, hosts, [worker])).toMatchObject({ kind: 'move' });
});
