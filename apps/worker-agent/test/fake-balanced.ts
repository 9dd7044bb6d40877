import type { SessionHealth, WorkerId } from '@berth/domain';
import type { BalancedNews, BalancedWorker, BalancedWorkers, BalancedWorkerState } from '../src/load-balanced/index.js';

const UNCHECKED: SessionHealth = { standing: 'unknown', sinceMs: 0, words: '' };
const QUIET: BalancedWorkerState = {
  ...{ inFlight: 0, finishedRequests: 0, lastRequestEndedAtMs: null },
  ...{ health: UNCHECKED, isHealthy: false, healthPort: null },
};

/** Nobody has requests, and nobody asks the workers: the test says what becomes of them. */
export class FakeBalanced implements BalancedWorkers {
  readonly seen = new Map<WorkerId, BalancedWorker>();
  readonly cuts: WorkerId[] = [];
  readonly #states = new Map<WorkerId, BalancedWorkerState>();
  readonly #listeners = new Set<(workerId: WorkerId, news: BalancedNews) => void>();

  see(worker: BalancedWorker): void {
    const { containerId, workerId } = worker;
    if (this.seen.get(workerId)?.containerId !== containerId) this.#states.set(workerId, QUIET);
    this.seen.set(workerId, worker);
  }

  cut(workerId: WorkerId): void {
    if ((this.state(workerId)?.inFlight ?? 0) > 0) this.cuts.push(workerId);
    this.#change(workerId, { inFlight: 0 });
  }

  forget(workerId: WorkerId): void {
    this.seen.delete(workerId);
    this.#states.delete(workerId);
  }

  state(workerId: WorkerId): BalancedWorkerState | null {
    return this.#states.get(workerId) ?? null;
  }

  subscribe(listener: (workerId: WorkerId, news: BalancedNews) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  check(workerId: WorkerId, health: SessionHealth, healthPort: number | null = null): void {
    this.#change(workerId, { health, isHealthy: health.standing === 'in', healthPort });
    this.#tell(workerId, 'health');
  }

  carry(workerId: WorkerId, inFlight: number, lastRequestEndedAtMs: number | null = null): void {
    this.#change(workerId, { inFlight, lastRequestEndedAtMs });
    this.#tell(workerId, 'requests');
  }

  #change(workerId: WorkerId, change: Partial<BalancedWorkerState>): void {
    const state = this.#states.get(workerId);
    if (state !== undefined) this.#states.set(workerId, { ...state, ...change });
  }

  #tell(workerId: WorkerId, news: BalancedNews): void {
    for (const listener of this.#listeners) listener(workerId, news);
  }
}
