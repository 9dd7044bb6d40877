import { systemClock } from '@berth/lifecycle';
import type { ClientEntry, ShortLivedJob, StatusRead, WorkerOutput } from '@berth/testing/checker';
import type { ApiCaller } from './api-caller.js';
import type { EventReader } from './event-reader.js';
import type { JobKind } from './job-kinds.js';

/** What a worker says itself ends a job in its first attempt, and the tenant retries that one. */
const CHARGED_ATTEMPTS_MAX = 3;
const ENDED = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']);

/** How a job came to be. Instants are Unix ms. */
export interface Acceptance {
  readonly jobId: string;
  readonly kind: JobKind;
  /** The value that the worker shall give back. */
  readonly echo: string;
  readonly sentAtMs: number;
  readonly acceptedAtMs: number;
  /** When the tenant changes its mind; for cancelled ones. */
  readonly cancelsAtMs: number;
}

/** One accepted job as its tenant knows it, and what the tenant does with it. */
export class TenantJob {
  readonly accepted: Acceptance;
  readonly lifeReads: ShortLivedJob['reads'][number][] = [];
  reader: EventReader | null = null;
  readonly #api: ApiCaller;
  #reads: StatusRead[] = [];
  /** Reads made after a cancel was answered with `CANCELLED`. */
  #afterCancel: (string | null)[] | null = null;
  #cancelIsAnswered = false;
  #isRetried = false;
  /** A retry was sent whose answer was lost. */
  #mayBeRetried = false;

  constructor(api: ApiCaller, accepted: Acceptance) {
    this.#api = api;
    this.accepted = accepted;
  }

  get status(): string | null {
    return this.#reads.at(-1)?.status ?? null;
  }

  /** Nothing more will happen to it, as far as its tenant knows. */
  get isAtRest(): boolean {
    const { kind } = this.accepted;
    if (kind === 'short-lived') return this.lifeReads.at(-1)?.isFound === false;
    if (kind === 'retried' && !this.#isRetried && this.status === 'FAILED') return false;
    return ENDED.has(this.status ?? '');
  }

  /** For the checker: what was seen since the last time that it was queued again on purpose. */
  get entry(): ClientEntry {
    return { jobId: this.accepted.jobId, input: this.accepted.echo, reads: this.#reads };
  }

  /** How many of its attempts it paid for, as far as that was ever shown: all that it has, once it is given up. */
  get charged(): number {
    return this.status === 'FAILED' ? CHARGED_ATTEMPTS_MAX : Math.max(0, ...this.#reads.map(({ retries }) => retries));
  }

  get laterStatuses(): readonly (string | null)[] | null {
    return this.#afterCancel;
  }

  /** One look, and what follows from it. */
  async attend(): Promise<void> {
    await this.#look();
    const { cancelsAtMs, kind } = this.accepted;
    if (kind === 'cancelled' && !this.#cancelIsAnswered && systemClock.nowMs() >= cancelsAtMs) await this.#cancel();
    if (kind === 'retried' && !this.#isRetried && this.status === 'FAILED') await this.#retry();
  }

  async #look(): Promise<void> {
    const askedAtMs = systemClock.nowMs();
    const answer = await this.#api.call('GET', `/status/${this.accepted.jobId}`);
    if (answer === null) return;
    const { body } = answer;
    const status = answer.status === 404 ? null : String(body['status']);
    const answeredAtMs = systemClock.nowMs();
    this.lifeReads.push({ askedAtMs, answeredAtMs, isFound: status !== null });
    if (this.#mayBeRetried && status !== 'FAILED') this.#beginAgain();
    this.#afterCancel?.push(status);
    const output = (body['output'] ?? null) as WorkerOutput | null;
    this.#reads.push({ atMs: answeredAtMs, status, output, retries: Number(body['retries'] ?? 0) });
  }

  /** Repeated at the next look until it is answered. */
  async #cancel(): Promise<void> {
    const answer = await this.#api.call('POST', `/cancel/${this.accepted.jobId}`);
    if (answer === null) return;
    this.#cancelIsAnswered = true;
    if (answer.body['status'] === 'CANCELLED') this.#afterCancel = [];
  }

  /** A conflict says that an earlier try, whose answer was lost, has done it. */
  async #retry(): Promise<void> {
    const answer = await this.#api.call('POST', `/retry/${this.accepted.jobId}`);
    if (answer === null) this.#mayBeRetried = true;
    else this.#beginAgain();
  }

  /** What was seen before the retry speaks of another end. */
  #beginAgain(): void {
    this.#isRetried = true;
    this.#mayBeRetried = false;
    this.#reads = [];
  }
}
