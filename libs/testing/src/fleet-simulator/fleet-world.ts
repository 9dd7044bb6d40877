import {
  GB_BYTES,
  type AccountId,
  type EndpointId,
  type EndpointSpec,
  type FleetEndpoint,
  type Host,
  type HostId,
} from '@berth/domain';
import type { SeededRandom } from '../clock/seeded-random.js';

/** A card of the fleet, the pool that it is in, and how many hosts of a hundred have it. */
const CARDS = [
  { typeId: 'NVIDIA GeForce RTX 4090', pool: 'ADA_24', memoryGb: 24, percent: 50 },
  { typeId: 'NVIDIA A40', pool: 'AMPERE_48', memoryGb: 48, percent: 30 },
  { typeId: 'NVIDIA H100 80GB HBM3', pool: 'ADA_80_PRO', memoryGb: 80, percent: 20 },
] as const;

/** After every instant of a simulation: of a host that is not silent. */
export const ALWAYS_HEARD_MS = Number.MAX_SAFE_INTEGER;

export interface WorldSize {
  readonly hosts: number;
  readonly endpoints: number;
  readonly accounts: number;
}

/** How an endpoint's image and jobs behave. */
export interface Nature {
  /** To pull its image to a host that has it not. */
  readonly pullMs: number;
  /** From a container to its first question for a job. */
  readonly startMs: number;
  readonly meanExecutionMs: number;
  readonly burstsPerHour: number;
  readonly jobsPerBurst: number;
}

export interface SimulatedEndpoint {
  readonly endpoint: FleetEndpoint;
  readonly nature: Nature;
}

export interface World {
  readonly hosts: readonly Host[];
  readonly endpoints: readonly SimulatedEndpoint[];
}

/** Hosts with one card or two of one type, and endpoints of all sizes, each with an account. */
export function drawWorld({ accounts, endpoints, hosts }: WorldSize, random: SeededRandom): World {
  return {
    hosts: Array.from({ length: hosts }, (_, index) => drawHost(index, random)),
    endpoints: Array.from({ length: endpoints }, (_, index) => {
      // Squared, so that some accounts have far more endpoints than others.
      const account = Math.floor(random.fraction() ** 2 * accounts);
      return drawEndpoint(index, `a${account}`, random);
    }),
  };
}

function drawHost(index: number, random: SeededRandom): Host {
  const place = random.fraction() * 100;
  const card = place < CARDS[0].percent ? CARDS[0] : place < 100 - CARDS[2].percent ? CARDS[1] : CARDS[2];
  const gpus = random.pick([1, 1, 1, 2]);
  return {
    ...{ id: `h${String(index).padStart(4, '0')}` as HostId, name: 'host', labels: {}, intent: 'ready' },
    ...{ dataCenterId: random.pick(['EU-1', 'EU-2', 'US-1']), lastSeenAtMs: ALWAYS_HEARD_MS },
    inventory: {
      ...{ vcpus: 16 * gpus, isOvercommitted: false, memoryBytes: 64 * gpus * GB_BYTES, diskBytes: 2_000 * GB_BYTES },
      gpus: Array.from({ length: gpus }, (_, at) => ({
        ...{ index: at, typeId: card.typeId, memoryBytes: card.memoryGb * GB_BYTES },
      })),
      ...{ areGpusSimulated: false, cudaVersion: '12.8', runtime: 'docker', images: [] },
    },
  };
}

function drawEndpoint(index: number, accountId: string, random: SeededRandom): SimulatedEndpoint {
  const isDelayed = random.chance(0.5);
  const meanExecutionMs = random.pick([500, 1_000, 2_000, 5_000, 10_000, 30_000]);
  const jobsPerBurst = random.pick([5, 20, 50, 100]);
  // What its owner may have found good: all jobs of a burst are done a minute or two after it.
  const max = Math.min(20, Math.ceil((jobsPerBurst * meanExecutionMs) / 60_000));
  const spec: EndpointSpec = {
    ...{ name: `e${index}`, type: 'QUEUE', networkVolumeIds: [], flashboot: 'OFF' },
    container: { image: `image/${index}`, args: '', diskGb: 20, env: {}, ports: [], registryId: null },
    scaling: isDelayed ? { type: 'QUEUE_DELAY', queueDelaySeconds: 4 } : { type: 'REQUEST_COUNT', requestCount: 2 },
    workers: {
      min: random.chance(0.02) ? 1 : 0,
      max,
      idleTimeoutSeconds: isDelayed ? random.pick([5, 5, 30, 60]) : null,
    },
    ...drawHardware(random),
    ...{ dataCenterIds: random.chance(0.1) ? ['EU-1', 'EU-2'] : [], executionTimeoutMs: 600_000 },
  };
  return {
    endpoint: endpointOf(accountId, spec, index),
    nature: {
      pullMs: random.integer(10_000, 90_000),
      startMs: random.integer(2_000, 20_000),
      burstsPerHour: random.pick([0.05, 0.1, 0.25, 0.5, 1]),
      ...{ meanExecutionMs, jobsPerBurst },
    },
  };
}

/** One of five goes without a GPU. */
function drawHardware(random: SeededRandom): Pick<EndpointSpec, 'cpu' | 'gpu'> {
  if (random.chance(0.2)) return { gpu: null, cpu: [{ flavorId: 'cpu3c', vcpuCount: random.pick([2, 4]) }] };
  const gpu = { pools: drawPools(random), excludedTypes: [], count: random.chance(0.05) ? 2 : 1 };
  return { gpu: { ...gpu, allowedCudaVersions: [], minCudaVersion: null }, cpu: null };
}

const drawPools = (random: SeededRandom): readonly string[] =>
  random.pick([['ADA_24'], ['ADA_24', 'AMPERE_48'], ['AMPERE_48', 'ADA_24'], ['AMPERE_48'], ['ADA_80_PRO']]);

/** @param index its place among all, by which they were made */
const endpointOf = (accountId: string, spec: EndpointSpec, index: number): FleetEndpoint => ({
  ...{ id: spec.name as EndpointId, accountId: accountId as AccountId, spec, release: 1, version: 1 },
  ...{ createdAtMs: index, deletedAtMs: null, lastDecision: null, volumeDataCenterIds: [] },
});

export const GREEDY_ACCOUNT = 'greedy' as AccountId;

/**
 * One endpoint that wants a thousand workers of whatever card, about once an hour.
 *
 * @param jobsPerBurst how many jobs it then has, more or less
 */
export function greedyNeighbour(jobsPerBurst: number): SimulatedEndpoint {
  const spec: EndpointSpec = {
    ...{ name: 'greedy', type: 'QUEUE', cpu: null, networkVolumeIds: [], flashboot: 'OFF', dataCenterIds: [] },
    container: { image: 'image/greedy', args: '', diskGb: 20, env: {}, ports: [], registryId: null },
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: 0, max: 1_000, idleTimeoutSeconds: null },
    gpu: {
      ...{ pools: CARDS.map(({ pool }) => pool), excludedTypes: [], count: 1 },
      ...{ allowedCudaVersions: [], minCudaVersion: null },
    },
    executionTimeoutMs: 600_000,
  };
  const nature = { pullMs: 30_000, startMs: 10_000, meanExecutionMs: 20_000, burstsPerHour: 1, jobsPerBurst };
  return { endpoint: endpointOf(GREEDY_ACCOUNT, spec, -1), nature };
}
