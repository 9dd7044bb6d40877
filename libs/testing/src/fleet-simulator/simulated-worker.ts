import type { ObservedWorker, Worker, WorkerPhase } from '@berth/domain';

/** Failed starts in a row after which a worker on a bad host is known to fail, and how long they take. */
const FAILED_STARTS = 3;
const FAILING_AFTER_MS = 30_000;

/** One worker with its host's agent: starts, takes jobs one after the other, and leaves when it is told to. */
export class SimulatedWorker {
  readonly #readyAtMs: number;
  #worker: Worker;
  /** When it can take the next job. */
  #freeAtMs: number;
  #jobs = 0;
  #goneAtMs = Infinity;

  /** @param readyAtMs infinite where its starts fail */
  constructor(worker: Worker, readyAtMs: number) {
    this.#worker = worker;
    this.#readyAtMs = readyAtMs;
    this.#freeAtMs = readyAtMs;
  }

  /** Infinite for one that takes no job any more. */
  get freeAtMs(): number {
    return this.#goneAtMs === Infinity ? this.#freeAtMs : Infinity;
  }

  get jobs(): number {
    return this.#jobs;
  }

  get worker(): Worker {
    return this.#worker;
  }

  run(startMs: number, executionMs: number): void {
    this.#freeAtMs = startMs + executionMs;
    this.#jobs += 1;
  }

  /**
   * No new job; gone after the one that it has.
   *
   * @param leavesAfterIdleMs how long after it; null: at once
   */
  drain(nowMs: number, leavesAfterIdleMs: number | null): void {
    const lingers = leavesAfterIdleMs === null ? {} : { leavesAfterIdleMs };
    this.#worker = { ...this.#worker, intent: 'drained', ...lingers };
    this.#goneAtMs = this.#readyAtMs <= nowMs ? Math.max(nowMs, this.#freeAtMs + (leavesAfterIdleMs ?? 0)) : nowMs;
  }

  /** It stays after all. */
  resume(): void {
    const { leavesAfterIdleMs: _, ...worker } = this.#worker;
    this.#worker = { ...worker, intent: 'running' };
    this.#goneAtMs = Infinity;
  }

  /** As its agent reports it. */
  observe(nowMs: number): Worker {
    const phase = this.#phaseAt(nowMs);
    const failedStarts = this.#hasFailedAt(nowMs) ? FAILED_STARTS : 0;
    const isIdle = phase === 'idle' && this.#jobs > 0;
    const observed: ObservedWorker = {
      ...{ workerId: this.#worker.id, endpointId: this.#worker.endpointId, release: this.#worker.release, phase },
      ...{ reason: '', runningJobs: phase === 'busy' ? 1 : 0, failedStarts, phaseSinceMs: nowMs, startedAtMs: null },
      ...{ gpuTypeId: this.#worker.resources.gpuTypeId },
      ...(isIdle ? { idleSinceMs: this.#freeAtMs } : {}),
    };
    this.#worker = { ...this.#worker, observed };
    return this.#worker;
  }

  #phaseAt(nowMs: number): WorkerPhase {
    if (this.#goneAtMs <= nowMs) return 'removed';
    if (this.#hasFailedAt(nowMs)) return 'waiting';
    if (this.#readyAtMs > nowMs) return 'starting';
    return this.#freeAtMs > nowMs ? 'busy' : 'idle';
  }

  #hasFailedAt(nowMs: number): boolean {
    return this.#readyAtMs === Infinity && nowMs - this.#worker.createdAtMs >= FAILING_AFTER_MS;
  }
}
