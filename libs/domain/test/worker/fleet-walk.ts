import type { WorkerId } from '../../src/ids.js';
import { countStarts, type HostedWorker, type ReleaseStarts, type Worker } from '../../src/worker/index.js';
import { planEndpoint, type EndpointOperation, type EndpointView } from '../../src/worker/plan-endpoint.js';
import { NOW_MS, observedAs, sampleWorker } from './sample-worker.js';

const UNHEALTHY_AFTER = 5;

/**
 * One endpoint through time: the plan on one side, and on the other agents as simple as can be, whose workers come up where
 * their release is good and fail where it is not. Every host has room.
 */
export class FleetWalk {
  release = 1;
  desired: number;
  workersMax: number;
  starts: ReleaseStarts | null = null;
  /** In the order in which they were made. */
  workers: readonly HostedWorker[] = [];
  readonly #broken = new Set<number>();
  #made = 0;

  constructor(desired: number, workersMax: number) {
    this.desired = desired;
    this.workersMax = workersMax;
  }

  newRelease(isBroken = false): void {
    this.release += 1;
    this.mend(isBroken);
  }

  /** What the latest release is made of is well again, as an image that is there at last, or broken. */
  mend(isBroken = false): void {
    if (isBroken) this.#broken.add(this.release);
    else this.#broken.delete(this.release);
  }

  view(): EndpointView {
    const workers = this.workers.map(({ worker }) => worker);
    const starts = countStarts(this.starts, { release: this.release, workers }, NOW_MS);
    return {
      ...{ isDeleted: false, release: this.release, desiredWorkers: this.desired, workersMax: this.workersMax },
      ...{ workers: this.workers, observingSinceMs: 0, idleTimeoutMs: 0, starts },
    };
  }

  plan(): readonly EndpointOperation[] {
    return planEndpoint(this.view(), NOW_MS);
  }

  /** Looks once, and carries out what the plan says. */
  look(): readonly EndpointOperation[] {
    const operations = this.plan();
    this.starts = this.view().starts ?? null;
    for (const operation of operations) this.#carryOut(operation);
    return operations;
  }

  /** One step of the agent of the worker at this place, counted around: what comes next in its life. */
  step(index: number): void {
    const hosted = this.workers[index % Math.max(1, this.workers.length)];
    if (hosted !== undefined) this.#put({ ...hosted, worker: this.#next(hosted.worker) });
  }

  /** Gives the worker at this place a job, or takes it away. */
  work(index: number): void {
    const hosted = this.workers[index % Math.max(1, this.workers.length)];
    const phase = hosted?.worker.observed?.phase;
    if (hosted === undefined || (phase !== 'idle' && phase !== 'busy')) return;
    this.#put({ ...hosted, worker: inPhase(hosted.worker, phase === 'idle' ? 'busy' : 'idle') });
  }

  restart(index: number): void {
    const hosted = this.workers[index];
    if (hosted === undefined) return;
    const { restarts = 0 } = hosted.worker;
    this.#put({ ...hosted, worker: { ...inPhase(hosted.worker, 'starting', 0), restarts: restarts + 1 } });
  }

  drainHostOf(index: number): void {
    const hosted = this.workers[index % Math.max(1, this.workers.length)];
    if (hosted !== undefined) this.#put({ ...hosted, host: { intent: 'draining', lastSeenAtMs: NOW_MS } });
  }

  /** Everybody takes a step, then one look; until nothing more changes, or so often. */
  settle(rounds = 200): void {
    for (let round = 0; round < rounds; round += 1) {
      for (const index of this.workers.keys()) this.step(index);
      this.look();
    }
  }

  /** `1 idle, 1 busy, 2 starting`, with `-` behind the release of one that was told to leave. */
  toString(): string {
    return this.workers
      .map(({ worker }) => {
        const sign = worker.intent === 'drained' ? '-' : '';
        return `${worker.release}${sign} ${worker.observed?.phase ?? 'placed'}`;
      })
      .join(', ');
  }

  #next(worker: Worker): Worker {
    const { failedStarts = 0, phase } = worker.observed ?? {};
    if (worker.intent === 'drained') return inPhase(worker, phase === 'draining' ? 'removed' : 'draining');
    if (phase === undefined || phase === 'waiting' || phase === 'unhealthy') {
      return inPhase(worker, 'starting', failedStarts);
    }
    if (phase !== 'starting') return worker;
    if (!this.#broken.has(worker.release)) return inPhase(worker, 'idle');
    return inPhase(worker, failedStarts + 1 < UNHEALTHY_AFTER ? 'waiting' : 'unhealthy', failedStarts + 1);
  }

  #put(hosted: HostedWorker): void {
    this.workers = this.workers.map((each) => (each.worker.id === hosted.worker.id ? hosted : each));
  }

  #carryOut(operation: EndpointOperation): void {
    if (operation.kind === 'create-worker') {
      this.#made += 1;
      const facts = { phase: null, release: operation.release, createdAtMs: this.#made };
      this.workers = [...this.workers, sampleWorker(`w${this.#made}`, facts)];
      return;
    }
    const hosted = this.workers.find(({ worker }) => worker.id === operation.workerId);
    if (hosted === undefined) throw new Error(`the plan names ${operation.workerId}, which is not there`);
    if (operation.kind === 'forget-worker') this.workers = this.workers.filter((each) => each !== hosted);
    else this.#put({ ...hosted, worker: intended(hosted.worker, operation) });
  }
}

const inPhase = (worker: Worker, phase: NonNullable<Worker['observed']>['phase'], failedStarts = 0): Worker => ({
  ...worker,
  observed: observedAs(worker.id, { phase, failedStarts, release: worker.release }),
});

function intended(
  { leavesAfterIdleMs: _, ...worker }: Worker,
  operation: EndpointOperation & { readonly workerId: WorkerId },
): Worker {
  if (operation.kind === 'resume-worker') return { ...worker, intent: 'running' };
  const leaves = operation.kind === 'drain-worker' ? operation.leavesAfterIdleMs : undefined;
  return { ...worker, intent: 'drained', ...(leaves === undefined ? {} : { leavesAfterIdleMs: leaves }) };
}
