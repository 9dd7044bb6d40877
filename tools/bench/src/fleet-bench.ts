import {
  NO_DEMAND,
  newFleetMemory,
  SHIPPED_CATALOG,
  planFleet,
  type AccountId,
  type EndpointId,
  type EndpointSpec,
  type Fleet,
  type FleetEndpoint,
  type Host,
  type HostId,
  type Worker,
  type WorkerId,
} from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { median, medianRatio, print } from './figures.js';

const SIZE = { hosts: 500, endpoints: 10_000, accounts: 200 } as const;
const ROUNDS = 9;
/** Of so many endpoints two want one more worker or some. */
const WANTING_ONE_IN = 100;
const NOW_MS = 1_000_000_000;
const GIB = 2 ** 30;
const CARDS = ['NVIDIA GeForce RTX 4090', 'NVIDIA A40', 'NVIDIA RTX A6000', 'NVIDIA H100 80GB HBM3'];

/**
 * One plan of a great fleet, whose endpoints have one or two workers each, and some hundred of which want one more. Beside it,
 * in the same rounds, what reading that fleet costs at least: a copy of it as a structured clone.
 */
export async function benchFleet(): Promise<void> {
  const fleet = greatFleet();
  const ours: number[] = [];
  const bare: number[] = [];
  let created = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const cloneMs = timed(() => structuredClone(fleet));
    const planMs = timed(() => {
      created = planOnce(fleet);
    });
    // The first round warms up.
    if (round === 0) continue;
    bare.push(cloneMs);
    ours.push(planMs);
  }
  print(
    `one plan of ${SIZE.endpoints} endpoints and ${fleet.workers.length} workers on ${SIZE.hosts} hosts, ${created} of them new: ` +
      `${median(ours).toFixed(0)} ms; a copy of the fleet: ${median(bare).toFixed(0)} ms; ratio ${medianRatio(ours, bare)}`,
  );
}

function timed(work: () => unknown): number {
  const beganAtMs = systemClock.monotonicMs();
  work();
  return systemClock.monotonicMs() - beganAtMs;
}

function planOnce(fleet: Fleet): number {
  let made = 0;
  const plan = planFleet(
    {
      ...{ fleet, catalog: SHIPPED_CATALOG },
      demandOf: ({ createdAtMs }) => (createdAtMs % WANTING_ONE_IN < 2 ? { ...NO_DEMAND, queuedNormal: 9 } : NO_DEMAND),
      memory: { ...newFleetMemory(0), lastLookMs: NOW_MS },
    },
    { nowMs: NOW_MS, newWorkerId: () => `n${(made += 1)}` as WorkerId },
  );
  if (plan.failed.size > 0) throw new Error('an endpoint could not be planned for');
  return made;
}

/** Idle workers, spread over the hosts in turn: these have room for all of them and more. */
function greatFleet(): Fleet {
  const hosts = Array.from({ length: SIZE.hosts }, (_, index) => hostOf(index));
  const endpoints = Array.from({ length: SIZE.endpoints }, (_, index) => endpointOf(index));
  const workers = endpoints.flatMap(({ id: endpointId, release }, index) =>
    Array.from({ length: 1 + (index % 2) }, (_, at): Worker => {
      const id = `${endpointId}-${at}` as WorkerId;
      const hostId = hosts[(2 * index + at) % hosts.length]?.id as HostId;
      const seen = { reason: '', runningJobs: 0, failedStarts: 0, phaseSinceMs: 0, startedAtMs: 0, gpuTypeId: null };
      return {
        ...{ id, endpointId, hostId, release, intent: 'running', createdAtMs: 0 },
        resources: { vcpus: 2, memoryBytes: 4 * GIB, diskBytes: GIB, gpuTypeId: null, gpuCount: 0 },
        observed: { workerId: id, endpointId, release, phase: 'idle', idleSinceMs: NOW_MS, ...seen },
      };
    }),
  );
  return { endpoints, hosts: new Map(hosts.map((host) => [host.id, host])), workers, accountLimits: new Map() };
}

const hostOf = (index: number): Host => ({
  ...{ id: `h${index}` as HostId, name: 'host', labels: {}, intent: 'ready', lastSeenAtMs: NOW_MS },
  dataCenterId: `dc${index % 5}`,
  inventory: {
    ...{ vcpus: 128, isOvercommitted: false, memoryBytes: 1_024 * GIB, diskBytes: 4_096 * GIB },
    gpus: Array.from({ length: 8 }, (_, at) => ({
      ...{ index: at, typeId: CARDS[index % CARDS.length] ?? '', memoryBytes: 24 * GIB },
    })),
    ...{ areGpusSimulated: false, cudaVersion: '12.8', runtime: 'docker', images: [] },
  },
});

/** Every second one wants a GPU of two pools. */
function endpointOf(index: number): FleetEndpoint {
  const gpu = { pools: ['ADA_24', 'AMPERE_48'], excludedTypes: [], count: 1 };
  const spec: EndpointSpec = {
    ...{ name: 'endpoint', type: 'QUEUE', scaling: { type: 'REQUEST_COUNT', requestCount: 1 } },
    container: { image: `image/${index}`, args: '', diskGb: null, env: {}, ports: [], registryId: null },
    workers: { min: 0, max: index % 4 === 0 ? 8 : 3, idleTimeoutSeconds: null },
    gpu: index % 2 === 0 ? { ...gpu, allowedCudaVersions: [], minCudaVersion: null } : null,
    cpu: index % 2 === 0 ? null : [{ flavorId: 'cpu3c', vcpuCount: 2 }],
    ...{ dataCenterIds: [], networkVolumeIds: [], flashboot: 'OFF', executionTimeoutMs: 300_000 },
  };
  return {
    ...{ id: `e${index}` as EndpointId, accountId: `a${index % SIZE.accounts}` as AccountId, spec, release: 1 },
    ...{ version: 1, createdAtMs: index, deletedAtMs: null, lastDecision: null, volumeDataCenterIds: [] },
  };
}
