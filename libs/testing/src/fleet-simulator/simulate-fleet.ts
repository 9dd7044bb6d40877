import {
  newFleetMemory,
  SHIPPED_CATALOG,
  planFleet,
  type AccountId,
  type AccountLimits,
  type EndpointId,
  type EndpointPlan,
  type FleetEndpoint,
  type FleetMemory,
  type FleetOperation,
  type Host,
  type HostId,
  type Worker,
  type WorkerId,
} from '@berth/domain';
import { SeededRandom } from '../clock/seeded-random.js';
import {
  ALWAYS_HEARD_MS,
  drawWorld,
  greedyNeighbour,
  type Nature,
  type SimulatedEndpoint,
  type WorldSize,
} from './fleet-world.js';
import { HostSilences } from './host-silences.js';
import { SimulatedQueue } from './simulated-queue.js';
import { SimulatedWorker } from './simulated-worker.js';

export interface FleetScenario extends WorldSize {
  readonly seed: number;
  readonly hours: number;
  /** Between two plans; in between all goes on. */
  readonly passMs: number;
  /** One host of so many fails to start any worker; 0: none. */
  readonly badHostOneIn: number;
  /** One host of so many falls silent now and then; 0: none. */
  readonly silentHostOneIn: number;
  readonly hasGreedyNeighbour: boolean;
  readonly accountLimits: ReadonlyMap<AccountId, AccountLimits>;
}

/** What came of it, added up. */
export interface FleetOutcome {
  /** By account: how long each job waited for its start, in ms. */
  readonly waitsMs: ReadonlyMap<AccountId, readonly number[]>;
  /** Jobs that had not started at the end. */
  readonly unstarted: number;
  readonly starts: number;
  readonly moves: number;
  /** Workers that were given up because nothing was heard of their host. */
  readonly lost: number;
  /** GPUs times the time that workers held them, and that jobs ran on them. */
  readonly heldGpuMs: number;
  readonly usedGpuMs: number;
  /** The same of vCPU, of workers without a GPU. */
  readonly heldVcpuMs: number;
  readonly usedVcpuMs: number;
  /** Most workers that were there at one time. */
  readonly workersMax: number;
  readonly gpus: number;
}

const IMAGES_ON_HOST_MAX = 20;
/** Some minutes of the whole fleet. */
const GREEDY_JOBS_PER_HOST = 15;

/** A fleet through some hours on the real plan, in no time: the same scenario has the same outcome. */
export function simulateFleet(scenario: FleetScenario): FleetOutcome {
  const simulation = new FleetSimulation(scenario);
  const { hours, passMs } = scenario;
  for (let nowMs = 0; nowMs <= hours * 3_600_000; nowMs += passMs) simulation.pass(nowMs);
  return simulation.outcome();
}

interface Living {
  endpoint: FleetEndpoint;
  readonly nature: Nature;
  readonly queue: SimulatedQueue;
  readonly workers: Map<WorkerId, SimulatedWorker>;
}

class FleetSimulation {
  readonly #scenario: FleetScenario;
  readonly #hosts: Map<HostId, Host>;
  readonly #badHosts: ReadonlySet<HostId>;
  readonly #silences: HostSilences;
  readonly #silent = new Set<HostId>();
  readonly #living: ReadonlyMap<EndpointId, Living>;
  readonly #waitsMs = new Map<AccountId, number[]>();
  readonly #sums = { starts: 0, moves: 0, lost: 0, workersMax: 0 };
  readonly #times = { heldGpuMs: 0, usedGpuMs: 0, heldVcpuMs: 0, usedVcpuMs: 0 };
  #memory: FleetMemory = newFleetMemory(0);

  constructor(scenario: FleetScenario) {
    this.#scenario = scenario;
    const { badHostOneIn, hasGreedyNeighbour, hours, seed, silentHostOneIn } = scenario;
    const { endpoints, hosts } = drawWorld(scenario, new SeededRandom(seed));
    this.#hosts = new Map(hosts.map((host) => [host.id, host]));
    const oneIn = (count: number, first: number): readonly HostId[] =>
      hosts.filter((_, at) => count > 0 && at % count === first).map(({ id }) => id);
    this.#badHosts = new Set(oneIn(badHostOneIn, 1));
    this.#silences = new HostSilences(oneIn(silentHostOneIn, 0), hours * 3_600_000, new SeededRandom(seed + 1));
    const all = hasGreedyNeighbour ? [...endpoints, greedyNeighbour(GREEDY_JOBS_PER_HOST * hosts.length)] : endpoints;
    const living = ({ endpoint, nature }: SimulatedEndpoint, at: number): Living => {
      // Chance of its own, so that one endpoint more changes nothing of the others.
      const queue = new SimulatedQueue(nature, hours * 3_600_000, new SeededRandom(seed * 100_003 + at));
      return { endpoint, nature, queue, workers: new Map() };
    };
    this.#living = new Map(all.map((each, at) => [each.endpoint.id, living(each, at)]));
  }

  pass(nowMs: number): void {
    this.#hearHosts(nowMs);
    const active: Living[] = [];
    for (const living of this.#living.values()) {
      this.#runJobs(living, nowMs);
      if (isActive(living)) active.push(living);
    }
    const workers = active.flatMap((living) => Array.from(living.workers.values(), (each) => this.#seen(each, nowMs)));
    const fleet = {
      endpoints: active.map(({ endpoint }) => endpoint),
      ...{ hosts: this.#hosts, workers, accountLimits: this.#scenario.accountLimits },
    };
    const plan = planFleet(
      {
        ...{ fleet, catalog: SHIPPED_CATALOG },
        demandOf: ({ id }) => this.#living.get(id)?.queue.demand(nowMs) ?? null,
        memory: this.#memory,
      },
      { nowMs, newWorkerId: () => `w${this.#sums.starts++}` as WorkerId },
    );
    for (const [id, error] of plan.failed) throw new Error(`endpoint ${id} could not be planned for`, { cause: error });
    this.#memory = plan.memory;
    this.#sums.workersMax = Math.max(this.#sums.workersMax, workers.length);
    for (const each of plan.endpoints) this.#carryOut(each, nowMs);
  }

  outcome(): FleetOutcome {
    const endMs = this.#scenario.hours * 3_600_000;
    const left = Array.from(this.#living.values(), ({ queue }) => queue.waiting);
    for (const { workers } of this.#living.values())
      for (const { worker } of workers.values()) this.#hold(worker, endMs);
    const gpus = Array.from(this.#hosts.values(), ({ inventory }) => inventory?.gpus.length ?? 0);
    return {
      ...this.#sums,
      ...this.#times,
      waitsMs: this.#waitsMs,
      unstarted: left.reduce((sum, count) => sum + count, 0),
      gpus: gpus.reduce((sum, count) => sum + count, 0),
    };
  }

  #hearHosts(nowMs: number): void {
    for (const id of this.#silences.hostIds) {
      const sinceMs = this.#silences.silentSinceMs(id, nowMs);
      const host = this.#hosts.get(id);
      if (host === undefined || (sinceMs !== null) === this.#silent.has(id)) continue;
      if (sinceMs === null) this.#silent.delete(id);
      else this.#silent.add(id);
      this.#hosts.set(id, { ...host, lastSeenAtMs: sinceMs ?? ALWAYS_HEARD_MS });
    }
  }

  /** As it was last told of. */
  #seen(each: SimulatedWorker, nowMs: number): Worker {
    return this.#silent.has(each.worker.hostId) ? each.worker : each.observe(nowMs);
  }

  #hold({ createdAtMs, resources: { gpuCount, vcpus } }: Worker, untilMs: number): void {
    this.#times.heldGpuMs += (untilMs - createdAtMs) * gpuCount;
    if (gpuCount === 0) this.#times.heldVcpuMs += (untilMs - createdAtMs) * vcpus;
  }

  /** The worker that is free first takes the oldest job; on a silent host none does. */
  #runJobs({ endpoint, queue, workers }: Living, nowMs: number): void {
    queue.advance(nowMs);
    while (workers.size > 0) {
      const arrivalMs = queue.nextArrivalMs;
      if (arrivalMs === null || arrivalMs > nowMs) return;
      let next: SimulatedWorker | null = null;
      for (const worker of workers.values()) {
        const isAsking = this.#silent.size === 0 || !this.#silent.has(worker.worker.hostId);
        if (isAsking && (next === null || worker.freeAtMs < next.freeAtMs)) next = worker;
      }
      if (next === null || next.freeAtMs > nowMs) return;
      const startMs = Math.max(arrivalMs, next.freeAtMs);
      const executionMs = queue.start(startMs);
      next.run(startMs, executionMs);
      const { gpuCount, vcpus } = next.worker.resources;
      this.#times.usedGpuMs += executionMs * gpuCount;
      if (gpuCount === 0) this.#times.usedVcpuMs += executionMs * vcpus;
      this.#noteWait(endpoint.accountId, startMs - arrivalMs);
    }
  }

  #noteWait(accountId: AccountId, waitMs: number): void {
    const waits = this.#waitsMs.get(accountId) ?? [];
    waits.push(waitMs);
    this.#waitsMs.set(accountId, waits);
  }

  #carryOut(plan: EndpointPlan, nowMs: number): void {
    const living = this.#living.get(plan.endpoint.id);
    if (living === undefined || plan.kind === 'forget') return;
    for (const operation of plan.operations) this.#perform(operation, living, nowMs);
    const { desiredWorkers: desired, detail, reason } = plan.decision;
    const lastDecision = {
      ...{ endpointId: plan.endpoint.id, desired, reason, detail, waiting: plan.waiting, decidedAtMs: nowMs },
      ...{ starts: plan.starts, unplaced: plan.unplaced?.count ?? 0 },
    };
    living.endpoint = { ...living.endpoint, lastDecision };
  }

  #perform(operation: FleetOperation, living: Living, nowMs: number): void {
    switch (operation.kind) {
      case 'create-worker': {
        const { worker } = operation;
        const readyMs = this.#badHosts.has(worker.hostId) ? Infinity : nowMs + this.#coldStartMs(living, worker.hostId);
        living.workers.set(worker.id, new SimulatedWorker(worker, readyMs));
        return;
      }
      case 'drain-worker':
        if (operation.reason === 'failing-host') this.#sums.moves += 1;
        living.workers.get(operation.workerId)?.drain(nowMs, operation.leavesAfterIdleMs);
        return;
      case 'forget-worker': {
        const gone = living.workers.get(operation.workerId);
        if (gone !== undefined) this.#hold(gone.worker, nowMs);
        if (operation.reason === 'host-lost') this.#sums.lost += 1;
        living.workers.delete(operation.workerId);
        return;
      }
      case 'resume-worker':
        living.workers.get(operation.workerId)?.resume();
        return;
      case 'pause-worker':
        throw new Error('no simulated host can freeze a container');
      case 'note-stay':
        return;
      default:
        operation satisfies never;
    }
  }

  /** The image is there from then on, until others have taken its room. */
  #coldStartMs({ endpoint, nature }: Living, hostId: HostId): number {
    const host = this.#hosts.get(hostId);
    const { image } = endpoint.spec.container;
    if (host?.inventory == null || host.inventory.images.includes(image)) return nature.startMs;
    const images = [image, ...host.inventory.images].slice(0, IMAGES_ON_HOST_MAX);
    this.#hosts.set(hostId, { ...host, inventory: { ...host.inventory, images } });
    return nature.pullMs + nature.startMs;
  }
}

const isActive = ({ endpoint: { lastDecision, spec }, queue, workers }: Living): boolean =>
  workers.size > 0 || queue.waiting > 0 || spec.workers.min > 0 || (lastDecision?.desired ?? 0) > 0;
