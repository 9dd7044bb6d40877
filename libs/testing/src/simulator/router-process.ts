import { isEnded, isGone, type EndpointId, type HostId, type Job, type JobKey, type WorkerId } from '@berth/domain';
import { TIMEOUT_GRACE_MS, type JobStore, type StopSignal } from '@berth/jobs';
import type { BrokerModel } from './broker-model.js';
import { faultyGate, type Faults } from './faulty-gate.js';
import { modelStore } from './model-store.js';
import type { Operations } from './operations.js';
import { newOwner, type Owner, type World } from './world.js';

export interface RouterOptions {
  readonly world: World;
  readonly broker: BrokerModel;
  readonly operations: Operations;
  readonly faults: () => Faults;
  readonly network: Owner;
  readonly sendStop: (hostId: HostId, signal: StopSignal) => void;
}

const MAINTENANCE_INTERVAL_MS = 5_000;
const TICKETLESS_GRACE_MS = 5_000;
const LEASELESS_GRACE_MS = 30_000;

/**
 * A router: serves calls and runs its maintenance loops, dies at any step and comes back with empty memory.
 * Only the loops' bookkeeping is modelled here; every write goes through the operations under test.
 */
export class RouterProcess {
  readonly #options: RouterOptions;
  readonly #name: string;
  #owner: Owner;
  #store: JobStore;
  #leaselessSinceMs = new Map<string, number>();

  constructor(name: string, options: RouterOptions) {
    this.#name = name;
    this.#options = options;
    [this.#owner, this.#store] = this.#boot();
  }

  /** Runs a request on this router; rejects when the router dies on the way: the caller then knows nothing. */
  call<T>(request: (store: JobStore) => Promise<T>): Promise<T> {
    const { owner, store } = { owner: this.#owner, store: this.#store };
    return new Promise<T>((resolve, reject) => {
      this.#lost.set(owner, [...(this.#lost.get(owner) ?? []), reject]);
      request(store).then(resolve, reject);
    });
  }

  readonly #lost = new Map<Owner, ((reason: Error) => void)[]>();

  #boot(): [Owner, JobStore] {
    const { world, broker, faults, network } = this.#options;
    const owner = newOwner(this.#name);
    const gate = faultyGate({ world, owner, faults, network, crash: () => this.#crash(owner) });
    const store: JobStore = {
      ...modelStore(broker, gate),
      stopSignals: { send: this.#options.sendStop },
      clock: world.clockOf(owner),
      random: world.random,
    };
    this.#leaselessSinceMs = new Map();
    void this.#maintain(owner, store);
    return [owner, store];
  }

  #crash(owner: Owner): void {
    owner.isAlive = false;
    for (const reject of this.#lost.get(owner) ?? []) reject(new Error(`${this.#name} died`));
    this.#lost.delete(owner);
    [this.#owner, this.#store] = this.#boot();
  }

  async #maintain(owner: Owner, store: JobStore): Promise<void> {
    while (owner.isAlive) {
      await this.#options.world.sleep(owner, MAINTENANCE_INTERVAL_MS);
      for (const { job } of this.#options.broker.liveRecords()) {
        await this.#mend(store, job).catch(ignoreUnavailable);
      }
    }
  }

  async #mend(store: JobStore, job: Job): Promise<void> {
    const nowMs = this.#options.world.nowMs;
    const key: JobKey = { endpointId: job.endpointId, jobId: job.id };
    if (isEnded(job.state) || isGone(job, nowMs)) return;
    if (job.state === 'IN_QUEUE') {
      const isTicketless = !this.#options.broker.hasTicket({ ...key, attempt: job.attempt });
      if (isTicketless && nowMs - job.queuedAtMs > TICKETLESS_GRACE_MS) {
        await this.#options.operations.mendTicket(store, job);
      }
      return;
    }
    if (job.current !== null && nowMs >= job.current.deadlineAtMs + TIMEOUT_GRACE_MS) {
      await this.#options.operations.timeOut(store, key);
    } else if (this.#isLeaseOver(job, nowMs)) {
      await this.#options.operations.reapAttempt(store, key, job.attempt);
    }
  }

  /** Expired: at once. Missing: only after it was seen so for a lease's length. */
  #isLeaseOver(job: Job, nowMs: number): boolean {
    const name = `${job.id}/${job.attempt}`;
    const state = this.#options.broker.readLease({ endpointId: job.endpointId, jobId: job.id, attempt: job.attempt });
    if (state.kind !== 'missing') {
      this.#leaselessSinceMs.delete(name);
      return state.kind === 'expired';
    }
    const sinceMs = this.#leaselessSinceMs.get(name) ?? nowMs;
    this.#leaselessSinceMs.set(name, sinceMs);
    return nowMs - sinceMs >= LEASELESS_GRACE_MS;
  }

  /** The dispatcher's work for one asking worker: first ticket that can be taken. */
  async takeNext(
    store: JobStore,
    taking: { hostId: HostId; workerId: WorkerId; endpointId: EndpointId },
  ): Promise<Job | null> {
    const query = { endpointId: taking.endpointId, isLowPriority: false, afterSequence: 0, limit: 8 };
    for (const queued of await store.tickets.list(query)) {
      const outcome = await this.#options.operations.takeTicket(store, queued.ticket, taking);
      if (outcome.kind !== 'not-yet') await store.tickets.remove(queued).catch(ignoreUnavailable);
      if (outcome.kind === 'taken') return outcome.job;
    }
    return null;
  }
}

function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'service-unavailable')) throw error;
}
