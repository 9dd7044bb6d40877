import {
  EXECUTION_TIMEOUT_ERROR,
  encodeJson,
  type EndpointId,
  type HostId,
  type Job,
  type JobId,
  type Result,
  type WorkerId,
} from '@berth/domain';
import { LEASE_TRUST_MS, RENEW_INTERVAL_MS, type ReportOutcome, type StopSignal } from '@berth/jobs';
import type { Observation } from './history.js';
import type { Operations } from './operations.js';
import type { RouterProcess } from './router-process.js';
import { newOwner, type Owner, type World } from './world.js';

export interface AgentOptions {
  readonly world: World;
  readonly hostId: HostId;
  readonly endpointId: EndpointId;
  readonly workers: number;
  readonly operations: Operations;
  readonly router: () => RouterProcess;
  readonly observe: (observation: Observation) => void;
  /** Longest execution, in ms. */
  readonly executionMaxMs: number;
}

interface Held {
  readonly job: Job;
  readonly token: string;
  trustedUntilMs: number;
  isStopped: boolean;
  /** The journal: a result that the worker was told is safe, or that its time is over. */
  result: Result | null;
  /** The routers know that the attempt is over; before that they would not hear when its worker let go. */
  isOver: boolean;
  letGoAtMs: number | null;
}

const POLL_PAUSE_MS = 1_000;
const RESEND_PAUSE_MS = 2_000;
/** A worker that was told to stop is killed after this. */
const LET_GO_MAX_MS = 10_000;
const FAILURES = 0.25;

/** A host: takes jobs, runs them, renews their leases, and repeats results until a router acknowledges them. */
export class AgentProcess {
  readonly #options: AgentOptions;
  readonly #held = new Map<JobId, Held>();
  /** The journal: attempts whose workers were told to stop, until a router has heard when they let go. */
  readonly #stopping = new Set<Held>();
  #owner: Owner;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#owner = this.#boot();
  }

  /** False while a router has yet to hear that a worker let go. */
  get isAtRest(): boolean {
    return this.#stopping.size === 0;
  }

  stop(signal: StopSignal): void {
    const held = this.#held.get(signal.jobId);
    if (held?.token !== signal.token || held.result !== null) return;
    this.#end(held);
    void this.#awaitLetGo(this.#owner, held);
  }

  /** The process dies with its workers; what its journal holds is sent after the restart. */
  crash(): void {
    this.#owner.isAlive = false;
    for (const held of this.#stopping) this.#letGo(held);
    for (const held of [...this.#held.values()]) if (held.result === null) this.#drop(held);
    this.#owner = this.#boot();
  }

  /** Stands still like a process under SIGSTOP. */
  freeze(ms: number): void {
    const atMs = this.#options.world.nowMs;
    this.#owner.frozenUntilMs = atMs + ms;
    for (const { job } of [...this.#held.values(), ...this.#stopping]) {
      this.#options.observe({ kind: 'frozen', jobId: job.id, attempt: job.attempt, atMs });
    }
  }

  #boot(): Owner {
    const owner = newOwner(this.#options.hostId);
    for (let worker = 0; worker < this.#options.workers; worker += 1) void this.#serve(owner, worker);
    void this.#renew(owner);
    for (const held of this.#held.values()) void this.#deliver(owner, held);
    for (const held of this.#stopping) void this.#tellStop(owner, held);
    return owner;
  }

  async #serve(owner: Owner, worker: number): Promise<void> {
    const { world, hostId, endpointId } = this.#options;
    const taking = { hostId, endpointId, workerId: `${hostId}w${worker}` as WorkerId };
    while (owner.isAlive) {
      const router = this.#options.router();
      const sentAtMs = world.nowMs;
      const job = await this.#ask(
        owner,
        router.call((store) => router.takeNext(store, taking)),
      );
      if (job === null) await world.sleep(owner, POLL_PAUSE_MS);
      // An answer that was read too late speaks of a lease that may be another's by now.
      else if (world.nowMs < sentAtMs + LEASE_TRUST_MS) await this.#execute(owner, job, sentAtMs);
    }
  }

  async #execute(owner: Owner, job: Job, sentAtMs: number): Promise<void> {
    const { world, observe, executionMaxMs } = this.#options;
    const token = job.current?.token;
    if (token === undefined) throw new Error(`job ${job.id} was given without a token`);
    const trustedUntilMs = sentAtMs + LEASE_TRUST_MS;
    const held: Held = { job, token, trustedUntilMs, isStopped: false, result: null, isOver: false, letGoAtMs: null };
    this.#held.set(job.id, held);
    observe({ kind: 'started', jobId: job.id, attempt: job.attempt, atMs: world.nowMs });
    const executionMs = world.random.integer(100, executionMaxMs);
    await world.sleep(owner, Math.min(executionMs, job.executionTimeoutMs));
    if (held.isStopped) return;
    if (executionMs > job.executionTimeoutMs) {
      held.result = { kind: 'timed-out', error: EXECUTION_TIMEOUT_ERROR, chunks: 0 };
      void this.#awaitLetGo(owner, held);
    } else {
      held.result = resultOf(job, world.random.chance(FAILURES));
      this.#observeStop(held);
    }
    await this.#deliver(owner, held);
  }

  /** A worker that was told to stop takes a while. */
  async #awaitLetGo(owner: Owner, held: Held): Promise<void> {
    const { world } = this.#options;
    this.#stopping.add(held);
    await world.sleep(owner, world.random.integer(0, LET_GO_MAX_MS));
    this.#letGo(held);
    await this.#tellStop(owner, held);
  }

  #letGo(held: Held): void {
    if (held.letGoAtMs !== null) return;
    const { observe, world } = this.#options;
    held.letGoAtMs = world.nowMs;
    this.#observeStop(held);
    observe({ kind: 'let-go', jobId: held.job.id, attempt: held.job.attempt, atMs: world.nowMs });
  }

  async #tellStop(owner: Owner, held: Held): Promise<void> {
    const { world, operations, router } = this.#options;
    const { job, token, letGoAtMs } = held;
    const report = { endpointId: job.endpointId, jobId: job.id, attempt: job.attempt, token };
    while (owner.isAlive && held.isOver && letGoAtMs !== null && this.#stopping.has(held)) {
      const call = router().call((store) => operations.settleStopped(store, report, letGoAtMs));
      if ((await this.#ask(owner, call)) !== null) this.#stopping.delete(held);
      else await world.sleep(owner, RESEND_PAUSE_MS);
    }
  }

  async #deliver(owner: Owner, held: Held): Promise<void> {
    const { world, operations } = this.#options;
    const { job, token } = held;
    const report = { endpointId: job.endpointId, jobId: job.id, token };
    const { result } = held;
    while (result !== null && owner.isAlive && this.#held.get(job.id) === held) {
      const router = this.#options.router();
      const call = router.call((store) => operations.finishAttempt(store, report, result));
      const outcome: ReportOutcome | null = await this.#ask(owner, call);
      if (outcome === null) await world.sleep(owner, RESEND_PAUSE_MS);
      else this.#end(held);
      if (held.isOver) await this.#tellStop(owner, held);
    }
  }

  async #renew(owner: Owner): Promise<void> {
    const { world } = this.#options;
    while (owner.isAlive) {
      const untilMs = Math.min(
        ...[...this.#held.values()].map((held) => held.trustedUntilMs),
        Number.POSITIVE_INFINITY,
      );
      await world.sleep(owner, Math.max(1, Math.min(RENEW_INTERVAL_MS, untilMs - world.nowMs)));
      for (const held of [...this.#held.values()]) {
        if (world.nowMs >= held.trustedUntilMs) this.#drop(held);
        else void this.#renewOne(owner, held);
      }
    }
  }

  async #renewOne(owner: Owner, held: Held): Promise<void> {
    const { world, operations, hostId } = this.#options;
    const { job, token } = held;
    const sentAtMs = world.nowMs;
    const renewal = { endpointId: job.endpointId, jobId: job.id, attempt: job.attempt, token };
    const router = this.#options.router();
    const outcome = await this.#ask(
      owner,
      router.call((store) => operations.renewLease(store, renewal, hostId)),
    );
    if (outcome === 'renewed') held.trustedUntilMs = sentAtMs + LEASE_TRUST_MS;
    if (outcome === 'lost' && held.result === null) this.#drop(held);
  }

  /** The answer, once this process comes to read it; null when the router died or refused. */
  async #ask<T>(owner: Owner, call: Promise<T>): Promise<T | null> {
    const answer = await call.catch(() => null);
    await this.#options.world.step(owner);
    return answer;
  }

  #drop(held: Held): void {
    if (!held.isStopped && held.result === null) this.#observeStop(held);
    this.#end(held);
  }

  #end(held: Held): void {
    held.isStopped = true;
    held.isOver = true;
    if (this.#held.get(held.job.id) === held) this.#held.delete(held.job.id);
  }

  #observeStop({ job }: Held): void {
    const { observe, world } = this.#options;
    observe({ kind: 'stopped', jobId: job.id, attempt: job.attempt, atMs: world.nowMs });
  }
}

/** Says which attempt made it, so that the checks can see whose result is visible. */
function resultOf({ attempt }: Job, isFailure: boolean): Result {
  const output = { kind: 'inline', json: encodeJson({ attempt }) } as const;
  return isFailure
    ? { kind: 'failed', error: 'simulated', output, chunks: 1 }
    : { kind: 'completed', output, chunks: 1 };
}
