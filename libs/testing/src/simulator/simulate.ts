import { isEnded, isGone, type EndpointId, type HostId } from '@berth/domain';
import { SeededRandom } from '../clock/seeded-random.js';
import { AgentProcess } from './agent-process.js';
import { BrokerModel, type RecordVersion } from './broker-model.js';
import { Clients } from './clients.js';
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
const ROUTERS = 2;
const HOSTS = 2;
const WORKERS_PER_HOST = 2;
const FAULT_WINDOW_MS = 60_000;
const EXECUTION_MAX_MS = 20_000;
/** Past the lease, so that a frozen host wakes to find its jobs given away. */
const FREEZE_MAX_MS = 45_000;
const STEPS_MAX = 60_000;
const FAULTS: Faults = { crash: 0.004, unavailable: 0.02, lostAnswer: 0.05 };

/**
 * One run of the whole job path under one seed: two routers, two hosts, clients that submit, cancel, retry, purge, change
 * lives and look, and faults for the first minute. Ends when every job of the store has ended or expired.
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
  readonly #clients: Clients;
  #storiesLeft = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#world = new World(new SeededRandom(options.seed));
    this.#startMs = this.#world.nowMs;
    this.#broker = new WatchedBroker(
      () => this.#world.nowMs,
      (observation) => this.#observations.push(observation),
    );
    this.#routers = Array.from({ length: ROUTERS }, (_, n) => this.#newRouter(`router${n}`));
    this.#clients = new Clients({
      world: this.#world,
      outside: this.#outside,
      endpointId: ENDPOINT,
      operations: options.operations ?? REAL_OPERATIONS,
      router: () => this.#world.random.pick(this.#routers),
      observe: (observation) => this.#observations.push(observation),
    });
    this.#agents = new Map(
      Array.from({ length: HOSTS }, (_, n) => `host${n}` as HostId).map((id) => [id, this.#newAgent(id)]),
    );
  }

  async run(): Promise<SimulationLog> {
    for (let n = 0; n < this.#options.jobs; n += 1) this.#begin(this.#clients.useJob());
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

  #begin(story: Promise<void>): void {
    this.#storiesLeft += 1;
    void story.then(() => {
      this.#storiesLeft -= 1;
    });
  }

  #isAtRest(): boolean {
    const { nowMs } = this.#world;
    const isTold = [...this.#agents.values()].every((agent) => agent.isAtRest);
    const isOver = this.#storiesLeft === 0 && nowMs - this.#startMs > FAULT_WINDOW_MS;
    return isTold && isOver && this.#broker.liveRecords().every(({ job }) => isEnded(job.state) || isGone(job, nowMs));
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
    const isWaiting = job?.state === 'IN_QUEUE' && job.attempt === attempt && !isGone(job, this.#now());
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
