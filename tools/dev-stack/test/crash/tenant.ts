import { systemClock } from '@berth/lifecycle';
import type { SeededRandom } from '@berth/testing';
import {
  checkCancel,
  checkKey,
  checkLife,
  checkStream,
  checkTold,
  type BrokenOperation,
  type ClientEntry,
  type KeyedRequest,
} from '@berth/testing/checker';
import type { ApiCaller } from './api-caller.js';
import { EventReader } from './event-reader.js';
import type { HookReceiver } from './hook-receiver.js';
import { CHUNKS, SHORT_TTL_MS, bodyOf, pickKind, type JobKind } from './job-kinds.js';
import type { Story } from './story.js';
import { TenantJob } from './tenant-job.js';

const CANCEL_AFTER_MAX_MS = 2_000;
const LOOKS_AT_ONCE = 12;
const BETWEEN_LOOKS_MS = 500;
/** Of the jobs at rest, how many are looked at again in one round: an end must stay. */
const LOOK_AGAIN = 0.02;
const BREAK_OFF = 0.2;
const KEY_REPEATS_MAX = 3;

export interface TenantOptions {
  readonly api: ApiCaller;
  readonly random: SeededRandom;
  readonly receiver: HookReceiver;
}

/** Submits jobs of every kind, does with each what its kind says, and keeps a diary of what it was told. */
export class Tenant {
  readonly #options: TenantOptions;
  readonly #jobs: TenantJob[] = [];
  readonly #keyed: KeyedRequest[] = [];
  readonly #readings: Promise<void>[] = [];

  constructor(options: TenantOptions) {
    this.#options = options;
  }

  get accepted(): number {
    return this.#jobs.length;
  }

  /** For the checker of histories. Those that live shortly are gone when it looks, and checked apart. */
  get entries(): readonly ClientEntry[] {
    return this.#jobs.filter(({ accepted }) => accepted.kind !== 'short-lived').map(({ entry }) => entry);
  }

  /** Jobs that paid for what happened to them, and how many attempts. */
  get charges(): ReadonlyMap<string, number> {
    const charged = this.#jobs.filter((job) => job.charged > 0);
    return new Map(charged.map((job) => [job.accepted.jobId, job.charged]));
  }

  countOf(kind: JobKind): number {
    return this.#jobs.filter(({ accepted }) => accepted.kind === kind).length;
  }

  /** An unknown outcome is nobody's promise, unless a key says what it was: such a request is repeated. */
  async submit(): Promise<void> {
    const { api, random, receiver } = this.#options;
    const kind = pickKind(random);
    const body = bodyOf(kind, random, receiver.url);
    const sentAtMs = systemClock.nowMs();
    const jobId = kind === 'keyed' ? await this.#runKeyed(body) : await run(api, body);
    if (jobId === null) return;
    const acceptedAtMs = systemClock.nowMs();
    const cancelsAtMs = acceptedAtMs + random.integer(0, CANCEL_AFTER_MAX_MS);
    const { echo } = body.input;
    const job = new TenantJob(api, { jobId, kind, echo, sentAtMs, acceptedAtMs, cancelsAtMs });
    this.#jobs.push(job);
    if (kind === 'streamed') this.#readStream(job);
  }

  /** Looks at its jobs until `signal`. */
  async go(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#lookAt(this.#jobs.filter((job) => !job.isAtRest || this.#options.random.chance(LOOK_AGAIN)));
      await systemClock.sleep(BETWEEN_LOOKS_MS, signal);
    }
  }

  /** True when nothing is left to happen. */
  get isAtRest(): boolean {
    return this.#jobs.every((job) => job.isAtRest);
  }

  get restless(): readonly string[] {
    return this.#jobs.filter((job) => !job.isAtRest).map(({ accepted, status }) => `${accepted.jobId} ${status}`);
  }

  /** One last look at every job, and the rest of what is streamed. */
  async finish(): Promise<void> {
    await Promise.all(this.#readings);
    await this.#lookAt(this.#jobs);
  }

  /** What the service tells of a job and its attempts now, and how the job was used. */
  async lookInto(jobId: string): Promise<Story> {
    const answer = await this.#options.api.call('GET', `/requests/${jobId}`);
    const kind = this.#jobs.find(({ accepted }) => accepted.jobId === jobId)?.accepted.kind;
    return { kind, ...answer?.body };
  }

  /** Jobs with a webhook whose receiver has not heard of them. */
  get untold(): number {
    const { receiver } = this.#options;
    return this.#jobs.filter(
      ({ accepted }) => accepted.kind === 'told' && receiver.callsFor(accepted.jobId).length === 0,
    ).length;
  }

  check(): readonly BrokenOperation[] {
    return [...this.#keyed.flatMap(checkKey), ...this.#jobs.flatMap((job) => this.#checkJob(job))];
  }

  #checkJob(job: TenantJob): readonly BrokenOperation[] {
    const { jobId, kind } = job.accepted;
    const { laterStatuses, status } = job;
    switch (kind) {
      case 'cancelled':
        return laterStatuses === null ? [] : checkCancel({ jobId, laterStatuses });
      case 'short-lived':
        return checkLife({ ...job.accepted, ttlMs: SHORT_TTL_MS, reads: job.lifeReads });
      case 'told':
        return checkTold({ jobId, status: status ?? '404', calls: this.#options.receiver.callsFor(jobId) });
      case 'streamed':
        return status === 'COMPLETED' ? checkStream({ jobId, wanted: CHUNKS, chunks: job.reader?.chunks ?? [] }) : [];
      case 'plain':
      case 'keyed':
      case 'retried':
        return [];
    }
  }

  async #runKeyed(body: object): Promise<string | null> {
    const { api, random } = this.#options;
    const key = random.uuid();
    const jobIds: string[] = [];
    for (let answers = random.integer(1, KEY_REPEATS_MAX); answers > 0;) {
      const jobId = await run(api, body, { 'idempotency-key': key });
      if (jobId === null) await systemClock.sleep(BETWEEN_LOOKS_MS);
      else {
        jobIds.push(jobId);
        answers -= 1;
      }
    }
    this.#keyed.push({ key, jobIds });
    return jobIds[0] ?? null;
  }

  #readStream(job: TenantJob): void {
    job.reader = new EventReader(this.#options.api, job.accepted.jobId);
    this.#readings.push(job.reader.read(() => this.#options.random.chance(BREAK_OFF)));
  }

  async #lookAt(jobs: readonly TenantJob[]): Promise<void> {
    const left = [...jobs];
    const look = async (): Promise<void> => {
      for (let job = left.shift(); job !== undefined; job = left.shift()) await job.attend();
    };
    await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, look));
  }
}

async function run(
  api: ApiCaller,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<string | null> {
  const answer = await api.call('POST', '/run', { body, headers });
  if (answer === null || answer.status === 409) return null;
  if (answer.status !== 200) throw new Error(`a submit was refused: ${JSON.stringify(answer)}`);
  return String(answer.body['id']);
}
