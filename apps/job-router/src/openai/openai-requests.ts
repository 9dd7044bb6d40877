import type { EndpointSnapshot } from '@berth/contracts';
import {
  CHARGED_ATTEMPTS_MAX,
  EXECUTION_TIMEOUT_DEFAULT_MS,
  PlatformError,
  TTL_MAX_MS,
  encodeJson,
  isEnded,
  retentionMs,
  type JobKey,
  type JobSight,
  type RawJson,
} from '@berth/domain';
import { blameWorker } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { FastifyReply } from 'fastify';
import { acceptedId, callerGone, type HeldCalls, type JobReader } from '../jobs/index.js';
import type { Jobs, JobWatch, Submission } from '../edge/index.js';
import type { AnswerRelay } from './answer-relay.js';
import type { OpenAiExchange } from './exchange.js';
import type { OpenAiMetrics } from './metrics.js';
import { type OpenAiFailure, failureInOutput, failureOf, noOutput, noWorker, toFailure } from './openai-failure.js';
import type { OpenAiRequest } from '../request-bodies/index.js';
import type { WorkerOutputs } from './worker-outputs.js';

/** Requests under way in this router at one time; each costs a subscription and a timer. */
const OPEN_MAX = 10_000;

/** How often a job is looked at without any notice. */
const LOOK_MS = 2_000;

export interface IncomingOpenAiRequest extends Pick<OpenAiRequest, 'isStreamed'> {
  /** Hands over the job's input, once: callers are held long after it has been stored. */
  readonly takeInput: () => RawJson;
  /** Told when nothing here refers to the input any more. */
  readonly onStored: () => void;
  readonly endpoint: EndpointSnapshot;
  readonly traceparent: string | null;
}

export interface OpenAiRequestsOptions {
  readonly jobs: Pick<Jobs, 'cancel' | 'submit' | 'watch'>;
  readonly held: HeldCalls;
  readonly reader: JobReader;
  readonly outputs: WorkerOutputs;
  readonly relay: AnswerRelay;
  readonly metrics: OpenAiMetrics;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
  /** How long a job may wait for a worker before its caller hears that there is none. */
  readonly queueWaitMs: number;
}

/**
 * Answers requests of OpenAI's clients by jobs. The job is the request's: it is cancelled when the caller goes away,
 * and when no worker takes it in time.
 */
export class OpenAiRequests {
  readonly #options: OpenAiRequestsOptions;
  #open = 0;

  constructor(options: OpenAiRequestsOptions) {
    this.#options = options;
  }

  get open(): number {
    return this.#open;
  }

  /**
   * Resolves when the request is answered or its caller has gone.
   *
   * @throws PlatformError for what this service itself refuses, before anything was sent
   */
  async answer(reply: FastifyReply, request: IncomingOpenAiRequest): Promise<void> {
    if (this.#open >= OPEN_MAX) {
      throw new PlatformError('service-unavailable', 'Too many requests are under way here; try again.');
    }
    const { jobs, metrics } = this.#options;
    const gone = callerGone(reply);
    const waiting: { watch?: JobWatch } = {};
    const form = request.isStreamed ? 'stream' : 'whole';
    const end = this.#options.held.begin(request.endpoint.id);
    this.#open += 1;
    try {
      const key = await this.#submit(request, (made) => {
        waiting.watch?.dispose();
        waiting.watch = jobs.watch(made, 'any');
      });
      request.onStored();
      waiting.watch ??= jobs.watch(key, 'any');
      const exchange: OpenAiExchange = { key, watch: waiting.watch, gone, isOver: false };
      await this.#carryOut(reply, exchange, request);
      metrics.requests.inc({ form, outcome: exchange.isOver ? 'answered' : 'left' });
    } catch (error) {
      metrics.requests.inc({ form, outcome: 'failed' });
      const failure = toFailure(error);
      if (failure === null) throw error;
      await sendFailure(reply, failure);
    } finally {
      end();
      this.#open -= 1;
      waiting.watch?.dispose();
    }
  }

  /** @param onKey told the job's key before anything of it is written */
  async #submit(request: IncomingOpenAiRequest, onKey: (key: JobKey) => void): Promise<JobKey> {
    const { endpoint } = request;
    const submission = this.#submissionOf(request);
    const accepted = await this.#options.jobs.submit({
      endpoint,
      origin: 'runsync',
      size: 1,
      name: null,
      submissionOf: () => submission,
      onFirstId: (jobId) => {
        onKey({ endpointId: endpoint.id, jobId });
      },
    });
    return { endpointId: endpoint.id, jobId: acceptedId(accepted) };
  }

  #submissionOf({ endpoint, takeInput, traceparent }: IncomingOpenAiRequest): Submission {
    const executionTimeoutMs =
      endpoint.executionTimeoutMs > 0 ? endpoint.executionTimeoutMs : EXECUTION_TIMEOUT_DEFAULT_MS;
    return {
      input: takeInput(),
      extras: encodeJson({}),
      sealedExtras: null,
      webhook: null,
      executionTimeoutMs,
      // Only a bound for jobs whose router has died: no other process knows their ids.
      ttlMs: Math.min(TTL_MAX_MS, this.#options.queueWaitMs + CHARGED_ATTEMPTS_MAX * executionTimeoutMs),
      retentionMs: retentionMs('runsync', 0),
      isLowPriority: false,
      traceparent,
    };
  }

  async #carryOut(reply: FastifyReply, exchange: OpenAiExchange, { isStreamed }: IncomingOpenAiRequest): Promise<void> {
    void reply.header('berth-job-id', exchange.key.jobId);
    try {
      await (isStreamed ? this.#options.relay.relay(reply, exchange) : this.#answerWhole(reply, exchange));
    } finally {
      if (!exchange.isOver) await this.#cancel(exchange);
    }
  }

  async #answerWhole(reply: FastifyReply, exchange: OpenAiExchange): Promise<void> {
    const job = await this.#awaitEnd(exchange);
    if (!exchange.isOver) return;
    const failure = failureOf(job.state, job.error);
    if (failure !== null) throw failure;
    const output = await this.#options.outputs.answerOf(job);
    if (output === null) throw noOutput();
    const inOutput = failureInOutput(output);
    if (inOutput !== null) throw inOutput;
    await reply.status(200).header('content-type', JSON_UTF8).send(output);
  }

  async #awaitEnd(exchange: OpenAiExchange): Promise<JobSight> {
    const { clock, queueWaitMs, reader } = this.#options;
    for (;;) {
      const job = await reader.read(exchange.key);
      exchange.isOver = isEnded(job.state);
      if (exchange.isOver || exchange.gone.aborted) return job;
      if (job.state === 'IN_QUEUE' && clock.nowMs() - job.queuedAtMs > queueWaitMs) throw noWorker();
      await exchange.watch.wait(LOOK_MS, exchange.gone);
    }
  }

  /** A job that cannot be cancelled runs to its end unseen; its caller has gone or has heard enough. */
  async #cancel({ key }: OpenAiExchange): Promise<void> {
    const { jobs, logger } = this.#options;
    try {
      await jobs.cancel(key);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      logger.warn('the job of a request that is over could not be cancelled', { jobId: key.jobId, error });
    }
  }
}

const JSON_UTF8 = 'application/json; charset=utf-8';

async function sendFailure(reply: FastifyReply, failure: OpenAiFailure): Promise<void> {
  if (!failure.isOurs) blameWorker(reply.request);
  if (failure.retryAfterSeconds !== undefined) void reply.header('retry-after', String(failure.retryAfterSeconds));
  await reply.status(failure.status).header('content-type', JSON_UTF8).send(failure.body);
}
