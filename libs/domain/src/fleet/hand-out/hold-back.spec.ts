import { describe, expect, test } from '@jest/globals';
import type { EndpointSpec } from '../../endpoint/index.js';
import { SHIPPED_CATALOG } from '../../hardware-catalog/index.js';
import type { Host, ImageAhead } from '../../host/index.js';
import type { AccountId, EndpointId, HostId, WorkerId } from '../../ids.js';
import { NO_DEMAND } from '../../scaling/index.js';
import { rolloutOf, type ReleaseStarts, type Worker, type WorkerPhase } from '../../worker/index.js';
import { newFleetMemory } from '../fleet-memory.js';
import { withOperation } from '../fleet-operation.js';
import type { ScalingRecord } from '../fleet.js';
import { planFleet } from '../plan-fleet.js';

const GIB = 2 ** 30;
const START_MS = 10_000_000;
const ENDPOINT = 'e' as EndpointId;
const HELD = 'the image is brought to host h0 before a worker of the older release leaves there';

const specOf = (max: number): EndpointSpec => ({
  ...{ name: 'echo', type: 'QUEUE', scaling: { type: 'REQUEST_COUNT', requestCount: 1 } },
  container: { image: 'acme/worker:2', args: '', diskGb: null, env: {}, ports: [], registryId: null },
  workers: { min: 0, max, idleTimeoutSeconds: null },
  ...{ gpu: null, cpu: [{ flavorId: 'cpu3c', vcpuCount: 2 }], dataCenterIds: [], networkVolumeIds: [] },
  ...{ flashboot: 'OFF', executionTimeoutMs: 300_000 },
});

/** One endpoint whose second release has just come, each of its workers on a host of its own. */
class Rollout {
  nowMs = START_MS;
  workers: readonly Worker[];
  readonly #hosts = new Map<HostId, Host>();
  readonly #max: number;
  #starts: ReleaseStarts | null = null;
  #made = 0;

  constructor(count: number, max: number, more: Partial<NonNullable<Host['inventory']>> = { imagesAhead: [] }) {
    this.#max = max;
    for (let index = 0; index < count; index += 1) this.tell(index, undefined, more);
    this.workers = Array.from({ length: count }, (_, index) =>
      seen(
        {
          ...{ id: `w${index}` as WorkerId, endpointId: ENDPOINT, hostId: `h${index}` as HostId, release: 1 },
          ...{ intent: 'running', createdAtMs: -index, observed: null },
          resources: { vcpus: 2, memoryBytes: 4 * GIB, diskBytes: GIB, gpuTypeId: null, gpuCount: 0 },
        },
        'idle',
      ),
    );
  }

  /** What a host says of the image of the second release. */
  tell(index: number, state?: ImageAhead['state'], more: Partial<NonNullable<Host['inventory']>> = {}): void {
    const reason = state === 'failed' ? 'image-unreachable: no answer' : '';
    const imagesAhead = state === undefined ? [] : [{ endpointId: ENDPOINT, release: 2, state, reason }];
    this.#hosts.set(`h${index}` as HostId, {
      ...{ id: `h${index}` as HostId, name: '', dataCenterId: 'A', labels: {}, intent: 'ready', lastSeenAtMs: 0 },
      inventory: {
        ...{ vcpus: 2, isOvercommitted: false, memoryBytes: 64 * GIB, diskBytes: 500 * GIB, gpus: [], images: [] },
        ...{ areGpusSimulated: false, cudaVersion: null, runtime: 'docker', imagesAhead, ...more },
      },
    });
  }

  see(id: string, phase: WorkerPhase): void {
    this.workers = this.workers.map((worker) => (worker.id === id ? seen(worker, phase) : worker));
  }

  /** Looks once, and carries out the plan. `1 idle, 1- idle: why`, as in other walks. */
  look(): string {
    for (const host of this.#hosts.values()) this.#hosts.set(host.id, { ...host, lastSeenAtMs: this.nowMs });
    const lastDecision = { ...LAST, starts: this.#starts };
    const order = { createdAtMs: 0, deletedAtMs: null, lastDecision, volumeDataCenterIds: [] };
    const endpoint = { id: ENDPOINT, accountId: 'a' as AccountId, release: 2, version: 2, ...order };
    const { endpoints, failed } = planFleet(
      {
        fleet: {
          ...{ endpoints: [{ ...endpoint, spec: specOf(this.#max) }], hosts: this.#hosts, workers: this.workers },
          accountLimits: new Map(),
        },
        catalog: SHIPPED_CATALOG,
        demandOf: () => ({ ...NO_DEMAND, running: this.#max }),
        memory: { ...newFleetMemory(0), lastLookMs: this.nowMs },
      },
      { nowMs: this.nowMs, newWorkerId: () => `n${(this.#made += 1)}` as WorkerId },
    );
    expect([...failed]).toEqual([]);
    for (const plan of endpoints) {
      if (plan.kind === 'forget') continue;
      this.workers = plan.operations.reduce(withOperation, this.workers);
      this.#starts = plan.starts;
    }
    const { reason } = rolloutOf(this.workers, 2, this.#starts);
    const line = this.workers.map(({ intent, observed, release }) => {
      return `${release}${intent === 'drained' ? '-' : ''} ${observed?.phase ?? 'placed'}`;
    });
    return `${line.join(', ')}${reason === '' ? '' : `: ${reason}`}`;
  }
}

const LAST: ScalingRecord = {
  ...{ endpointId: ENDPOINT, desired: 1, reason: 'demand', detail: '', waiting: [], unplaced: 0 },
  ...{ starts: null, decidedAtMs: 0 },
};

const seen = (worker: Worker, phase: WorkerPhase): Worker => ({
  ...worker,
  observed: {
    ...{ workerId: worker.id, endpointId: ENDPOINT, release: worker.release, phase, reason: '' },
    ...{ runningJobs: Number(phase === 'busy'), failedStarts: 0, phaseSinceMs: 0, startedAtMs: 0, gpuTypeId: null },
  },
});

type Step = readonly [(rollout: Rollout) => void, string];

const nothing = (): void => undefined;
const GONE = 'the image could not be brought to host h0 ahead, and a worker left there all the same';

describe('a release at the maximum, look by look', () => {
  test.each<[string, number, readonly Step[]]>([
    [
      'drains an old worker once the image is on its host',
      1,
      [
        [nothing, `1 idle: ${HELD}`],
        [(rollout) => rollout.tell(0, 'pending'), `1 idle: ${HELD}`],
        [(rollout) => rollout.tell(0, 'ready'), '1- idle'],
        [(rollout) => rollout.see('w0', 'removed'), '2 placed'],
        [(rollout) => rollout.see('n1', 'idle'), '2 idle'],
      ],
    ],
    [
      'goes on when the host has given up, and says why',
      1,
      [
        [nothing, `1 idle: ${HELD}`],
        [(rollout) => rollout.tell(0, 'failed'), `1- idle: ${GONE}: image-unreachable: no answer`],
        [(rollout) => rollout.see('w0', 'removed'), '2 placed'],
      ],
    ],
    [
      'goes on after a quarter of an hour, and says why',
      1,
      [
        [nothing, `1 idle: ${HELD}`],
        [(rollout) => (rollout.nowMs += 899_999), `1 idle: ${HELD}`],
        [(rollout) => (rollout.nowMs += 1), `1- idle: ${GONE}: it took too long`],
      ],
    ],
    [
      'takes the idle worker whose host is ready first, and only that one',
      3,
      [
        [nothing, `1 idle, 1 idle, 1 idle: ${HELD}`],
        [(rollout) => rollout.tell(2, 'ready'), '1 idle, 1 idle, 1- idle'],
        [nothing, '1 idle, 1 idle, 1- idle'],
      ],
    ],
    [
      'interrupts no job for it while an idle worker’s host gets the image',
      2,
      [
        [(rollout) => rollout.see('w1', 'busy'), `1 idle, 1 busy: ${HELD}`],
        [(rollout) => rollout.tell(1, 'ready'), `1 idle, 1 busy: ${HELD}`],
        [(rollout) => rollout.tell(0, 'ready'), '1- idle, 1 busy'],
      ],
    ],
  ])('%s', (_, count, steps) => {
    const rollout = new Rollout(count, count);
    const lines = steps.map(([happens]) => {
      happens(rollout);
      return rollout.look();
    });
    expect(lines).toEqual(steps.map(([, line]) => line));
  });
});

test.each<[string, Partial<NonNullable<Host['inventory']>>]>([
  ['prepares nothing ahead', { imagesAhead: undefined } as never],
  ['has the image', { images: ['acme/worker:2'] }],
])('a host that %s is not waited for', (_, inventory) => {
  expect(new Rollout(1, 1, inventory).look()).toBe('1- idle');
});

test('where only hosts are full, the place is given up once the image is there too', () => {
  const rollout = new Rollout(1, 2);
  expect(rollout.look()).toBe(`1 idle: ${HELD}`);
  rollout.tell(0, 'ready');
  expect(rollout.look()).toMatch(/^1- idle/);
});
