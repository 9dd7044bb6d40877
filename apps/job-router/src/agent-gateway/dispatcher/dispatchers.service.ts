import type { EndpointId, Job } from '@berth/domain';
import { giveUpAttempt, type JobStore } from '@berth/jobs';
import type { Doorbell } from './doorbell.port.js';
import { EndpointDispatcher, type DispatchObserver } from './endpoint-dispatcher.js';
import type { TakeWish, TakingWorker } from './waiting-takers.js';

/** A dispatcher that nobody has asked for this long goes; the next question makes another. */
const IDLE_MAX_MS = 60_000;
const SWEEP_MS = 15_000;

const UNDELIVERED = 'given back: the answer could not be delivered to its host';

export interface DispatchersOptions {
  readonly store: JobStore;
  readonly doorbell: Doorbell;
  /** Jobs that fit into one answer. */
  readonly jobsPerReply: number;
  readonly observer: DispatchObserver;
}

/** One dispatcher per endpoint that is asked for jobs. */
export class Dispatchers {
  readonly #options: DispatchersOptions;
  readonly #dispatchers = new Map<EndpointId, EndpointDispatcher>();
  readonly #stopSweep: () => void;
  #isClosed = false;

  constructor(options: DispatchersOptions) {
    this.#options = options;
    this.#stopSweep = options.store.clock.every(SWEEP_MS, () => {
      this.#sweep();
    });
  }

  /** Jobs of the endpoint taken for this worker; none when none came in time, or when this router is stopping. */
  take(endpointId: EndpointId, wish: TakeWish): Promise<readonly Job[]> {
    return this.#isClosed ? Promise.resolve([]) : this.#dispatcherOf(endpointId).take(wish);
  }

  /** The worker waits no more. One that this router does not hold costs nothing. */
  withdraw(endpointId: EndpointId, worker: TakingWorker): void {
    this.#dispatchers.get(endpointId)?.withdraw(worker);
  }

  /** Nobody waits any more, as far as this router can answer. */
  withdrawAll(): void {
    for (const dispatcher of this.#dispatchers.values()) dispatcher.withdrawAll();
  }

  /** Queues jobs again that were taken for an answer that reached nobody. What fails here, the reaper mends. */
  async giveBack(jobs: readonly Job[]): Promise<void> {
    await Promise.all(jobs.map((job) => this.#giveBackOne(job)));
  }

  /** Wishes that wait now. */
  get waiting(): number {
    let waiting = 0;
    for (const dispatcher of this.#dispatchers.values()) waiting += dispatcher.waiting;
    return waiting;
  }

  get active(): number {
    return this.#dispatchers.size;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopSweep();
    const dispatchers = [...this.#dispatchers.values()];
    this.#dispatchers.clear();
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.close()));
  }

  async #giveBackOne(job: Job): Promise<void> {
    const { store, observer } = this.#options;
    const { id: jobId, endpointId, attempt, current } = job;
    if (current === null) return;
    try {
      const lost = { endpointId, jobId, attempt, token: current.token, reason: UNDELIVERED, isCharged: false };
      const { kind } = await giveUpAttempt(store, lost);
      if (kind === 'changed') observer.gaveBack(job);
    } catch (error) {
      observer.failed(endpointId, error);
    }
  }

  #dispatcherOf(endpointId: EndpointId): EndpointDispatcher {
    const there = this.#dispatchers.get(endpointId);
    if (there !== undefined) return there;
    const dispatcher = new EndpointDispatcher({ ...this.#options, endpointId });
    this.#dispatchers.set(endpointId, dispatcher);
    return dispatcher;
  }

  #sweep(): void {
    for (const [endpointId, dispatcher] of this.#dispatchers) {
      if (dispatcher.idleMs < IDLE_MAX_MS) continue;
      this.#dispatchers.delete(endpointId);
      void dispatcher.close();
    }
  }
}
