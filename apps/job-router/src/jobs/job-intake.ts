import { jobAttributes } from '@berth/contracts';
import type { JobId, JobKey, RawJson } from '@berth/domain';
import type { SecretBox } from '@berth/secrets';
import { duringStep, type Logger, type Traces } from '@berth/telemetry';
import { acceptedId } from './accepted-id.js';
import { isUnavailable } from '../owners/index.js';
import {
  type ItemOutcome,
  type Jobs,
  type JobsAccepted,
  type JobsRequest,
  type JobWatch,
  requestName,
  type RequestName,
} from '../edge/index.js';
import type { JobRequest, RequestBodies } from '../request-bodies/index.js';
import type { Wait } from './wait.js';
import type { IncomingRequest } from './incoming-request.js';
import { briefBody } from './job-body.js';
import type { JobReader } from './job-reader.js';
import type { JobMetrics } from './metrics.js';
import { toSubmission } from './submission.js';

export interface IncomingBatch extends IncomingRequest {
  /** Told how many jobs the body asks for, before any is accepted. May refuse by throwing. */
  readonly admit: (size: number) => void;
}

export interface JobIntakeOptions {
  readonly jobs: Pick<Jobs, 'submit'>;
  readonly reader: JobReader;
  readonly secrets: SecretBox;
  readonly bodies: Pick<RequestBodies, 'job' | 'batch'>;
  readonly metrics: JobMetrics;
  readonly logger: Logger;
  readonly traces: Pick<Traces, 'step'>;
}

/** Accepts jobs. */
export class JobIntake {
  readonly #options: JobIntakeOptions;

  constructor(options: JobIntakeOptions) {
    this.#options = options;
  }

  /** `/run`: accepted once this resolves. */
  async run(incoming: IncomingRequest): Promise<RawJson> {
    return briefBody({ jobId: await this.#accept(incoming, null), state: 'IN_QUEUE' });
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
        // A request that had come before has the ids of then.
        held.watch?.dispose();
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
    const { bodies, secrets } = this.#options;
    const { endpoint, traceparent } = incoming;
    const requests = await bodies.batch(body, endpoint.accountId);
    const size = requests.length;
    incoming.admit(size);
    const frame = { endpoint, waitMs: null, traceparent, secrets };
    const submissionOf: JobsRequest['submissionOf'] = (item, id) =>
      toSubmission(requests[item] as JobRequest, frame, id);
    const { outcomes } = await this.#submit(incoming, { operation: 'run-batch', body, size, submissionOf });
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
      return briefBody({ jobId: key.jobId, state: 'IN_QUEUE' });
    }
  }

  /**
   * The job is accepted once this resolves, and its body forgotten.
   *
   * @param waitMs how long the caller of `/runsync` is held; null: `/run`
   * @param onFirstId told the id before anything of the job is written
   */
  async #accept(
    incoming: IncomingRequest,
    waitMs: number | null,
    onFirstId: (id: JobId) => void = () => undefined,
  ): Promise<JobId> {
    const { text, done } = incoming.takeBody();
    try {
      return await this.#acceptOne(incoming, { body: text, waitMs }, onFirstId);
    } finally {
      done();
    }
  }

  async #acceptOne(
    incoming: IncomingRequest,
    { body, waitMs }: { readonly body: string; readonly waitMs: number | null },
    onFirstId: (id: JobId) => void,
  ): Promise<JobId> {
    const { bodies, secrets } = this.#options;
    const { endpoint, traceparent } = incoming;
    const request = await bodies.job(body, endpoint.accountId);
    const frame = { endpoint, waitMs, traceparent, secrets };
    const accepted = await this.#submit(incoming, {
      operation: waitMs === null ? 'run' : 'runsync',
      body,
      size: 1,
      submissionOf: (_, id) => toSubmission(request, frame, id),
      onFirstId,
    });
    return acceptedId(accepted);
  }

  async #submit(
    { endpoint, idempotencyKey, onReplay, traceparent }: IncomingRequest,
    { body, operation, ...request }: SubmittedBody,
  ): Promise<JobsAccepted> {
    const { jobs, metrics, traces } = this.#options;
    const origin = operation === 'runsync' ? 'runsync' : 'run';
    const name = requestName(operation, idempotencyKey, body);
    const step = {
      name: 'send job',
      kind: 'producer',
      attributes: jobAttributes({ endpointId: endpoint.id }),
    } as const;
    const accepted = await duringStep(traces.step(traceparent), step, () =>
      jobs.submit({ ...request, endpoint, origin, name }),
    );
    if (accepted.isReplayed) {
      metrics.replayed.inc({ operation });
      onReplay();
    } else {
      metrics.accepted.inc({ origin }, accepted.outcomes.filter(({ kind }) => kind === 'accepted').length);
    }
    return accepted;
  }
}

interface SubmittedBody extends Pick<JobsRequest, 'size' | 'submissionOf' | 'onFirstId'> {
  readonly operation: RequestName['operation'];
  readonly body: string;
}
