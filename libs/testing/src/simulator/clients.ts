import { encodeJson, isEnded, type AccountId, type EndpointId, type Job, type JobId } from '@berth/domain';
import { newJobId, readJob, type JobStore } from '@berth/jobs';
import type { Observation } from './history.js';
import type { Operations } from './operations.js';
import type { RouterProcess } from './router-process.js';
import type { Owner, World } from './world.js';

export interface ClientOptions {
  readonly world: World;
  readonly outside: Owner;
  readonly endpointId: EndpointId;
  readonly operations: Operations;
  readonly router: () => RouterProcess;
  readonly observe: (observation: Observation) => void;
}

const ACCOUNT = 'account' as AccountId;
const SUBMIT_WINDOW_MS = 10_000;
const FOLLOW_MAX_MS = 40_000;
const TTL_SHORT_MS = 15_000;
const TTL_LONG_MS = 900_000;
const EXECUTION_TIMEOUT_SHORT_MS = 8_000;
const EXECUTION_TIMEOUT_LONG_MS = 60_000;
const RETENTION_MS = 3_600_000;
const LIFE_MIN_MS = 1_000;
/** How often, and how long, a client looks whether its job failed, so that it may be tried again. */
const LOOKS_MAX = 3;
const LOOK_PAUSE_MS = 12_000;

/** Callers of the job API: what they are told is what the system has promised. */
export class Clients {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Submits one job and follows it for a while: cancels it, changes its life, or tries it again when it failed. */
  async useJob(): Promise<void> {
    const { world, outside, observe } = this.#options;
    const { random } = world;
    await world.sleep(outside, random.integer(0, SUBMIT_WINDOW_MS));
    const jobId = newJobId({ random }, 'run');
    const accepted = await this.#ask((store) => this.#submit(store, jobId));
    if (accepted === null) return;
    observe({ kind: 'accepted', jobId, atMs: world.nowMs });
    if (random.chance(0.12)) await this.#purge();
    await world.sleep(outside, random.integer(0, FOLLOW_MAX_MS));
    if (random.chance(0.25)) await this.#cancel(jobId);
    else if (random.chance(0.2)) await this.#replaceLife(jobId);
    await this.#lookAfter(jobId);
  }

  /** Looks at the job until it has ended well, and tries it again where it has not. */
  async #lookAfter(jobId: JobId): Promise<void> {
    const { world, outside } = this.#options;
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      const job = await this.#look(jobId);
      if (job === null || job.state === 'COMPLETED' || job.state === 'CANCELLED') return;
      if (isEnded(job.state)) await this.#retry(jobId);
      await world.sleep(outside, LOOK_PAUSE_MS);
    }
  }

  /** Empties the queue, sometimes twice at the same time. */
  async #purge(): Promise<void> {
    const purges = this.#options.world.random.integer(1, 2);
    await Promise.all(Array.from({ length: purges }, () => this.#purgeOnce()));
  }

  async #purgeOnce(): Promise<void> {
    const { operations, endpointId, observe, world } = this.#options;
    const removed = await this.#ask((store) => operations.purgeQueue(store, endpointId));
    observe({ kind: 'purged', removed, atMs: world.nowMs });
  }

  async #cancel(jobId: JobId): Promise<void> {
    const { operations, endpointId, observe, world } = this.#options;
    const job = await this.#ask((store) => operations.cancel(store, { endpointId, jobId }));
    if (job?.state === 'CANCELLED') observe({ kind: 'cancelled', jobId, atMs: world.nowMs });
  }

  async #replaceLife(jobId: JobId): Promise<void> {
    const { operations, endpointId, outside, world } = this.#options;
    const leftMs = world.random.pick([LIFE_MIN_MS, TTL_SHORT_MS, TTL_LONG_MS]);
    await this.#ask((store) => operations.replaceJobLife(store, { endpointId, jobId }, leftMs));
    await world.sleep(outside, world.random.integer(0, TTL_SHORT_MS));
  }

  /** Sometimes twice at the same time: both hear that the job waits, and it is one new attempt. */
  async #retry(jobId: JobId): Promise<void> {
    const { operations, endpointId, observe, world } = this.#options;
    observe({ kind: 'retry-asked', jobId, atMs: world.nowMs });
    const once = () => this.#ask((store) => operations.retry(store, { endpointId, jobId }));
    await Promise.all(Array.from({ length: world.random.integer(1, 2) }, once));
  }

  async #look(jobId: JobId): Promise<Job | null> {
    const { endpointId, observe, world } = this.#options;
    const askedAtMs = world.nowMs;
    const found = await this.#ask(async (store) => ({ job: await readJob(store, { endpointId, jobId }) }));
    if (found === null) return null;
    observe({ kind: 'seen', jobId, askedAtMs, atMs: world.nowMs, isFound: found.job !== null });
    return found.job;
  }

  #submit(store: JobStore, jobId: JobId): Promise<Job> {
    const { operations, endpointId, world } = this.#options;
    const { random } = world;
    return operations.submitJob(store, jobId, {
      endpointId,
      accountId: ACCOUNT,
      origin: 'run',
      input: encodeJson({ for: jobId }),
      extras: encodeJson({}),
      sealedExtras: null,
      reservation: null,
      webhook: null,
      executionTimeoutMs: random.chance(0.2) ? EXECUTION_TIMEOUT_SHORT_MS : EXECUTION_TIMEOUT_LONG_MS,
      ttlMs: random.chance(0.2) ? TTL_SHORT_MS : TTL_LONG_MS,
      retentionMs: RETENTION_MS,
      isLowPriority: false,
      traceparent: null,
    });
  }

  /** Null: the router died or refused, so the client knows nothing. */
  #ask<T>(request: (store: JobStore) => Promise<T>): Promise<T | null> {
    return this.#options
      .router()
      .call(request)
      .catch(() => null);
  }
}
