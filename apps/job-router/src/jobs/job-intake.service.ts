import type { JobId, JobKey, RawJson } from '@berth/domain';
import {
  acceptReserved,
  newJobId,
  reservedJobId,
  submitJob,
  type ItemOutcome,
  type JobStore,
  type Reserved,
  type ReservedItem,
} from '@berth/jobs';
import type { SecretBox } from '@berth/secrets';
import type { Logger } from '@berth/telemetry';
import { bodyHash, type KeyedRequest, type KeyedRequests } from '../idempotency/keyed-requests.service.js';
import { isUnavailable } from '../patiently.js';
import type { RequestBodies } from '../request-bodies.service.js';
import type { Wait } from '../wait.js';
import { acceptBatch, type Batch } from './accept-batch.js';
import { briefBody } from './job-body.js';
import type { IncomingRequest } from './incoming-request.port.js';
import type { JobRequest } from './job-request.js';
import type { JobReader } from './job-reader.service.js';
import type { JobWatch } from './job-notices.port.js';
import type { JobMetrics } from './metrics.js';
import { toSubmission } from './submission.js';

export interface IncomingBatch extends IncomingRequest {
  /** Told how many jobs the body asks for, before any is accepted. May refuse by throwing. */
  readonly admit: (size: number) => void;
}

export interface JobIntakeOptions {
  readonly store: JobStore;
  readonly keyed: KeyedRequests;
  readonly reader: JobReader;
  readonly secrets: SecretBox;
  readonly bodies: Pick<RequestBodies, 'job' | 'batch'>;
  readonly metrics: JobMetrics;
  readonly logger: Logger;
}

/** Accepts jobs. */
export class JobIntake {
  readonly #options: JobIntakeOptions;

  constructor(options: JobIntakeOptions) {
    this.#options = options;
  }

  /** `/run`: accepted once this resolves. */
  async run(incoming: IncomingRequest): Promise<RawJson> {
    return briefBody({ id: await this.#accept(incoming, null), state: 'IN_QUEUE' });
  }

  /**
   * `/runsync`: the caller is held until the job has ended or the wait is over. The job does not depend on the caller:
   * one who goes away finds the result under the job's id.
   */
  async runSync(incoming: IncomingRequest, wait: Wait): Promise<RawJson> {
    const held: { watch?: JobWatch } = {};
    const keyOf = (jobId: JobId): JobKey => ({ endpointId: incoming.endpoint.id, jobId });
    try {
      const id = await this.#accept(incoming, wait.ms, (made) => {
        held.watch = this.#options.reader.watch(keyOf(made), 'end');
      });
      return await this.#answerOf(keyOf(id), held.watch, wait);
    } finally {
      held.watch?.dispose();
    }
  }

  /**
   * `/run-batch`: every request is checked before any is accepted; then each is accepted or fails on its own, in order.
   *
   * @throws PlatformError as `run` does, before anything was tried
   */
  async runBatch(incoming: IncomingBatch): Promise<readonly ItemOutcome[]> {
    const { text, done } = incoming.takeBody();
    try {
      return await this.#acceptAll(incoming, text);
    } finally {
      done();
    }
  }

  async #acceptAll(incoming: IncomingBatch, body: string): Promise<readonly ItemOutcome[]> {
    const { bodies, metrics, secrets, store } = this.#options;
    const { endpoint, traceparent } = incoming;
    const requests = await bodies.batch(body, endpoint.accountId);
    const size = requests.length;
    incoming.admit(size);
    const named = { operation: 'run-batch', body, size, firstId: newJobId(store, 'run') } as const;
    const reserved = await this.#reserve(incoming, named);
    const frame = { endpoint, waitMs: null, traceparent, secrets };
    const submissionOf: Batch['submissionOf'] = (item, id) => toSubmission(requests[item] as JobRequest, frame, id);
    const outcomes = await acceptBatch(store, { size, reserved, submissionOf });
    const accepted = outcomes.filter(({ kind }) => kind === 'accepted').length;
    if (reserved?.isReplayed !== true) metrics.accepted.inc({ origin: 'run' }, accepted);
    return outcomes;
  }

  /** The job is accepted, so its id reaches the caller even where the store can no longer be read. */
  async #answerOf(key: JobKey, watch: JobWatch | undefined, wait: Wait): Promise<RawJson> {
    const { logger, reader } = this.#options;
    try {
      const job = watch === undefined ? await reader.read(key) : await reader.awaitEnd(key, watch, wait);
      return await reader.statusBody(job);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      logger.warn('the job store did not answer while a caller waited', { jobId: key.jobId, error });
      return briefBody({ id: key.jobId, state: 'IN_QUEUE' });
    }
  }

  /**
   * The job is accepted once this resolves, and its body forgotten.
   *
   * @param waitMs how long the caller of `/runsync` is held; null: `/run`
   * @param onId told the id before anything of the job is written
   */
  async #accept(incoming: IncomingRequest, waitMs: number | null, onId?: (id: JobId) => void): Promise<JobId> {
    const { text, done } = incoming.takeBody();
    try {
      return await this.#acceptOne(incoming, { body: text, waitMs }, onId);
    } finally {
      done();
    }
  }

  async #acceptOne(
    incoming: IncomingRequest,
    { body, waitMs }: { readonly body: string; readonly waitMs: number | null },
    onId?: (id: JobId) => void,
  ): Promise<JobId> {
    const { bodies, metrics, secrets, store } = this.#options;
    const { endpoint, traceparent } = incoming;
    const operation = waitMs === null ? 'run' : 'runsync';
    const request = await bodies.job(body, endpoint.accountId);
    const submissionOf: ReservedItem['submissionOf'] = (made) =>
      toSubmission(request, { endpoint, waitMs, traceparent, secrets }, made);
    const firstId = newJobId(store, operation);
    const reserved = await this.#reserve(incoming, { operation, body, size: 1, firstId });
    const id = reserved === null ? firstId : reservedJobId(reserved.reservation, 0);
    onId?.(id);
    if (reserved === null) await submitJob(store, id, { ...submissionOf(id), reservation: null });
    else requireAccepted(await acceptReserved(store, reserved, [{ item: 0, submissionOf }]));
    if (reserved?.isReplayed !== true) metrics.accepted.inc({ origin: operation });
    return id;
  }

  /** Null where the caller did not name the request: it then costs nothing. */
  async #reserve(incoming: IncomingRequest, named: NamedRequest): Promise<Reserved | null> {
    const { endpoint, idempotencyKey, onReplay } = incoming;
    if (idempotencyKey === null) return null;
    const { keyed, metrics } = this.#options;
    const { body, operation } = named;
    const reserved = await keyed.reserve({ ...named, endpoint, idempotencyKey, hash: bodyHash(body) });
    if (reserved.isReplayed) {
      metrics.replayed.inc({ operation });
      onReplay();
    }
    return reserved;
  }
}

type NamedRequest = Pick<KeyedRequest, 'operation' | 'size' | 'firstId'> & { readonly body: string };

function requireAccepted(outcomes: readonly ItemOutcome[]): void {
  for (const outcome of outcomes) if (outcome.kind === 'failed') throw outcome.error;
}
