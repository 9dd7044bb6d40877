import type { EndpointSnapshot } from '@berth/contracts';
import { EXECUTION_TIMEOUT_DEFAULT_MS, jobKeyOf, retentionMs, type Job, type JobId, type RawJson } from '@berth/domain';
import { newJobId, submitJob, type JobStore } from '@berth/jobs';
import type { Logger } from '@berth/telemetry';
import { isUnavailable } from '../patiently.js';
import type { Wait } from '../wait.js';
import { briefBody } from './job-body.js';
import { parseJobRequest } from './job-request.js';
import type { JobReader } from './job-reader.service.js';
import type { JobWatch } from './job-notices.port.js';
import type { JobMetrics } from './metrics.js';

/** What came with a request. */
export interface IncomingRequest {
  /**
   * Hands over the body's text, once. Callers of `/runsync` are held long after their body has been stored, and a body
   * that nobody refers to any more costs nothing.
   */
  readonly takeBody: () => string;
  readonly endpoint: EndpointSnapshot;
  readonly traceparent: string | null;
}

export interface JobIntakeOptions {
  readonly store: JobStore;
  readonly reader: JobReader;
  readonly metrics: JobMetrics;
  readonly logger: Logger;
}

/** Accepts jobs. */
export class JobIntake {
  readonly #store: JobStore;
  readonly #reader: JobReader;
  readonly #metrics: JobMetrics;
  readonly #logger: Logger;

  constructor({ store, reader, metrics, logger }: JobIntakeOptions) {
    this.#store = store;
    this.#reader = reader;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** `/run`: accepted once this resolves. */
  async run(request: IncomingRequest): Promise<RawJson> {
    const job = await this.#submit(newJobId(this.#store, 'run'), request, null);
    return briefBody(job);
  }

  /**
   * `/runsync`: the caller is held until the job has ended or the wait is over. The job does not depend on the caller:
   * one who goes away finds the result under the job's id.
   */
  async runSync(request: IncomingRequest, wait: Wait): Promise<RawJson> {
    const id = newJobId(this.#store, 'runsync');
    const key = { endpointId: request.endpoint.id, jobId: id };
    const watch = this.#reader.watch(key);
    try {
      const accepted = await this.#submit(id, request, wait.ms);
      return await this.#answerOf(accepted, watch, wait);
    } finally {
      watch.dispose();
    }
  }

  /** The job is accepted, so its id reaches the caller even where the store can no longer be read. */
  async #answerOf(accepted: Job, watch: JobWatch, wait: Wait): Promise<RawJson> {
    try {
      const job = await this.#reader.awaitEnd(jobKeyOf(accepted), watch, wait);
      return await this.#reader.answer(job);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.#logger.warn('the job store did not answer while a caller waited', { jobId: accepted.id, error });
      return briefBody(accepted);
    }
  }

  async #submit(id: JobId, { takeBody, endpoint, traceparent }: IncomingRequest, waitMs: number | null): Promise<Job> {
    const request = parseJobRequest(takeBody());
    const origin = waitMs === null ? 'run' : 'runsync';
    const job = await submitJob(this.#store, id, {
      endpointId: endpoint.id,
      accountId: endpoint.accountId,
      origin,
      input: request.input,
      extras: request.extras,
      sealedExtras: null,
      webhook: request.webhook,
      executionTimeoutMs: request.executionTimeoutMs ?? endpointTimeoutMs(endpoint),
      ttlMs: request.ttlMs,
      retentionMs: retentionMs(origin, waitMs ?? 0),
      isLowPriority: request.isLowPriority,
      traceparent,
    });
    this.#metrics.accepted.inc({ origin });
    return job;
  }
}

/** Snapshots come from another process: one without a usable timeout gets the default of the job policy. */
const endpointTimeoutMs = ({ executionTimeoutMs }: EndpointSnapshot): number =>
  executionTimeoutMs > 0 ? executionTimeoutMs : EXECUTION_TIMEOUT_DEFAULT_MS;
