import { encodeJson, isEnded, type AccountId, type EndpointId, type HostId, type JobId } from '@berth/domain';
import { newJobId, readJob, type JobStore } from '@berth/jobs';
import { SeededRandom } from '../clock/seeded-random.js';
import { AgentProcess } from './agent-process.js';
import { BrokerModel, type RecordVersion } from './broker-model.js';
import { NO_FAULTS, type Faults } from './faulty-gate.js';
import type { Observation } from './history.js';
import { REAL_OPERATIONS, type Operations } from './operations.js';
import { RouterProcess } from './router-process.js';
import { World, newOwner, type Owner } from './world.js';

export interface SimulationOptions {
  readonly seed: number;
  readonly jobs: number;
  readonly operations?: Operations;
}

/** All that happened in one run: what the checks read. */
export interface SimulationLog {
  readonly seed: number;
  readonly observations: readonly Observation[];
  readonly versions: readonly RecordVersion[];
  readonly endedAtMs: number;
  readonly stepsTaken: number;
}

const ENDPOINT = 'ep' as EndpointId;
const ACCOUNT = 'account' as AccountId;
const ROUTERS = 2;
const HOSTS = 2;
const WORKERS_PER_HOST = 2;
const SUBMIT_WINDOW_MS = 10_000;
const FAULT_WINDOW_MS = 60_000;
const EXECUTION_MAX_MS = 20_000;
const EXECUTION_TIMEOUT_MS = 60_000;
const TTL_SHORT_MS = 15_000;
const TTL_LONG_MS = 900_000;
/** Past the lease, so that a frozen host wakes to find its jobs given away. */
const FREEZE_MAX_MS = 45_000;
const STEPS_MAX = 60_000;
const FAULTS: Faults = { crash: 0.004, unavailable: 0.02, lostAnswer: 0.05 };
const RETENTION_MS = 3_600_000;

/**
 * One run of the whole job path under one seed: two routers, two hosts, clients that submit, cancel and look, and
 * faults for the first minute. Ends when every job of the store has ended or expired.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationLog> {
  const simulation = new Simulation(options);
  return simulation.run();
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #world: World;
  readonly #broker: BrokerModel;
  readonly #routers: RouterProcess[];
  readonly #agents: Map<HostId, AgentProcess>;
  readonly #observations: Observation[] = [];
  readonly #outside: Owner = newOwner('outside');
  readonly #startMs: number;
  #clientsLeft: number;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#clientsLeft = options.jobs;
    this.#world = new World(new SeededRandom(options.seed));
    this.#startMs = this.#world.nowMs;
    this.#broker = new WatchedBroker(
      () => this.#world.nowMs,
      (observation) => this.#observations.push(observation),
    );
    this.#routers = Array.from({ length: ROUTERS }, (_, n) => this.#newRouter(`router${n}`));
    this.#agents = new Map(
      Array.from({ length: HOSTS }, (_, n) => `host${n}` as HostId).map((id) => [id, this.#newAgent(id)]),
    );
  }

  async run(): Promise<SimulationLog> {
    for (let n = 0; n < this.#options.jobs; n += 1) void this.#client();
    void this.#breakThings();
    await this.#world.run(() => this.#isAtRest(), STEPS_MAX);
    return {
      seed: this.#options.seed,
      observations: this.#observations,
      versions: this.#broker.versions,
      endedAtMs: this.#world.nowMs,
      stepsTaken: this.#world.stepsTaken,
    };
  }

  #isAtRest(): boolean {
    const isOver = this.#clientsLeft === 0 && this.#world.nowMs - this.#startMs > FAULT_WINDOW_MS;
    return isOver && this.#broker.liveRecords().every(({ job }) => isEnded(job.state));
  }

  readonly #faults = (): Faults => (this.#world.nowMs - this.#startMs < FAULT_WINDOW_MS ? FAULTS : NO_FAULTS);

  #newRouter(name: string): RouterProcess {
    return new RouterProcess(name, {
      world: this.#world,
      broker: this.#broker,
      operations: this.#options.operations ?? REAL_OPERATIONS,
      faults: this.#faults,
      network: this.#outside,
      sendStop: (hostId, signal) => {
        if (this.#world.random.chance(0.8)) this.#agents.get(hostId)?.stop(signal);
      },
    });
  }

  #newAgent(hostId: HostId): AgentProcess {
    return new AgentProcess({
      world: this.#world,
      hostId,
      endpointId: ENDPOINT,
      workers: WORKERS_PER_HOST,
      operations: this.#options.operations ?? REAL_OPERATIONS,
      router: () => this.#world.random.pick(this.#routers),
      observe: (observation) => this.#observations.push(observation),
      executionMaxMs: EXECUTION_MAX_MS,
    });
  }

  /** Agents die or freeze now and then, and the broker restarts. */
  async #breakThings(): Promise<void> {
    const { random } = this.#world;
    while (this.#world.nowMs - this.#startMs < FAULT_WINDOW_MS) {
      await this.#world.sleep(this.#outside, random.integer(2_000, 20_000));
      const agent = random.pick([...this.#agents.values()]);
      if (random.chance(0.3)) agent.crash();
      else this.#maybeFreeze(agent);
      if (random.chance(0.15)) this.#broker.restart((tickets) => tickets.filter(() => random.chance(0.3)));
    }
  }

  #maybeFreeze(agent: AgentProcess): void {
    const { random } = this.#world;
    if (random.chance(0.3)) agent.freeze(random.integer(3_000, FREEZE_MAX_MS));
  }

  async #client(): Promise<void> {
    const { random } = this.#world;
    await this.#world.sleep(this.#outside, random.integer(0, SUBMIT_WINDOW_MS));
    const jobId = newJobId({ random }, 'run');
    const ttlMs = random.chance(0.2) ? TTL_SHORT_MS : TTL_LONG_MS;
    const isAccepted = await this.#ask((store) => this.#submit(store, jobId, ttlMs));
    if (isAccepted !== null) {
      const expiresAtMs = isAccepted.expiresAtMs;
      this.#observations.push({ kind: 'accepted', jobId, atMs: this.#world.nowMs, expiresAtMs });
      await this.#follow(jobId);
    }
    this.#clientsLeft -= 1;
  }

  async #follow(jobId: JobId): Promise<void> {
    const { random } = this.#world;
    await this.#world.sleep(this.#outside, random.integer(0, 2 * EXECUTION_MAX_MS));
    const key = { endpointId: ENDPOINT, jobId };
    if (random.chance(0.3)) {
      const { cancel } = this.#options.operations ?? REAL_OPERATIONS;
      const job = await this.#ask((store) => cancel(store, key));
      if (job?.state === 'CANCELLED') this.#observations.push({ kind: 'cancelled', jobId, atMs: this.#world.nowMs });
    }
    const isFound = await this.#ask(async (store) => (await readJob(store, key)) !== null);
    if (isFound !== null) this.#observations.push({ kind: 'seen', jobId, atMs: this.#world.nowMs, isFound });
  }

  #submit(store: JobStore, jobId: JobId, ttlMs: number): Promise<{ readonly expiresAtMs: number }> {
    return (this.#options.operations ?? REAL_OPERATIONS).submitJob(store, jobId, {
      endpointId: ENDPOINT,
      accountId: ACCOUNT,
      origin: 'run',
      input: encodeJson({}),
      extras: encodeJson({}),
      sealedExtras: null,
      webhook: null,
      executionTimeoutMs: EXECUTION_TIMEOUT_MS,
      ttlMs,
      retentionMs: RETENTION_MS,
      isLowPriority: false,
      traceparent: null,
    });
  }

  /** Null: the router died or refused, so the client knows nothing. */
  #ask<T>(request: (store: JobStore) => Promise<T>): Promise<T | null> {
    return this.#world.random
      .pick(this.#routers)
      .call(request)
      .catch(() => null);
  }
}

/** Notes each removal of a ticket whose job still waits for that attempt: hints must outlive the wait. */
class WatchedBroker extends BrokerModel {
  readonly #now: () => number;
  readonly #observe: (observation: Observation) => void;
  #isRestarting = false;

  constructor(now: () => number, observe: (observation: Observation) => void) {
    super(now);
    this.#now = now;
    this.#observe = observe;
  }

  override removeTicket(...args: Parameters<BrokerModel['removeTicket']>): void {
    const [{ endpointId, jobId, attempt }] = args;
    const job = this.readRecord({ endpointId, jobId })?.job;
    const isWaiting = job?.state === 'IN_QUEUE' && job.attempt === attempt;
    if (isWaiting && !this.#isRestarting) {
      this.#observe({ kind: 'ticket-dropped-early', jobId, attempt, atMs: this.#now() });
    }
    super.removeTicket(...args);
  }

  override restart(...args: Parameters<BrokerModel['restart']>): void {
    this.#isRestarting = true;
    super.restart(...args);
    this.#isRestarting = false;
  }
}
