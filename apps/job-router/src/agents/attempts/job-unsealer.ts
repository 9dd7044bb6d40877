import { jobAttributes, type AssignedJob, type TakenJob } from '@berth/contracts';
import type { EndpointId, HostId, RawJson } from '@berth/domain';
import { SecretError, type SecretBox } from '@berth/secrets';
import { loggedTrace, type Logger, type Traces } from '@berth/telemetry';
import { openExtras } from '../../request-bodies/index.js';
import { proofOf, type AttemptOwners } from './attempt-owners.js';

export interface JobUnsealerOptions {
  readonly owners: Pick<AttemptOwners, 'tell'>;
  readonly secrets: SecretBox;
  readonly logger: Logger;
  /** Told of each job that could not be handed out. */
  readonly onUnopened: () => void;
  readonly traces: Pick<Traces, 'step'>;
}

/** Whose jobs they are. */
interface Holder {
  readonly endpointId: EndpointId;
  readonly hostId: HostId;
}

/** The error for a caller whose secrets are lost with the operator's key. */
const UNOPENED = 's3Config cannot be opened: the key that sealed it is not there any more; submit the job again';

/** Makes of jobs that were taken what their agent gets. Only here is readable what a caller gave in confidence. */
export class JobUnsealer {
  readonly #options: JobUnsealerOptions;

  constructor(options: JobUnsealerOptions) {
    this.#options = options;
  }

  /** The jobs that can be handed out; the others have failed, for another try would fail too. */
  async open(holder: Holder, jobs: readonly AssignedJob[]): Promise<readonly TakenJob[]> {
    const opened = await Promise.all(
      jobs.map(async (job) => {
        this.#recordWait(holder, job);
        const extras = await this.#extrasOf(holder, job);
        return extras === null ? [] : [takenJob(holder.endpointId, job, extras)];
      }),
    );
    return opened.flat();
  }

  /** From its acceptance, or the last attempt's end, to the worker that has it now. */
  #recordWait({ endpointId, hostId }: Holder, { attempt, body, delayTimeMs, jobId }: AssignedJob): void {
    const attributes = jobAttributes({ endpointId, jobId, attempt, hostId });
    this.#options.traces.step(body.traceparent, { agoMs: delayTimeMs })?.end({ name: 'wait in queue', attributes });
  }

  async #extrasOf(holder: Holder, { body, ...job }: AssignedJob): Promise<RawJson | null> {
    const { logger, onUnopened, secrets } = this.#options;
    const { endpointId } = holder;
    try {
      return openExtras(secrets, { endpointId, jobId: job.jobId }, body);
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      const { jobId } = job;
      const named = { endpointId, jobId, ...loggedTrace(body.traceparent) };
      logger.error('a job cannot be handed out: its sealed members cannot be opened', { ...named, error });
      onUnopened();
      await this.#fail(holder, job, named);
      return null;
    }
  }

  /** Where no owner answers the lease runs out, as with any attempt that nobody holds. */
  async #fail({ endpointId, hostId }: Holder, job: Omit<AssignedJob, 'body'>, named: object): Promise<void> {
    const { logger, owners } = this.#options;
    const failure = { state: 'FAILED', error: UNOPENED, output: null, outputBytes: 0, chunks: 0, logTail: [] } as const;
    try {
      await owners.tell(endpointId, { kind: 'finish', ...proofOf(hostId, { ...job, endpointId }), ...failure });
    } catch (error) {
      logger.warn('a job that cannot be handed out could not be ended', { ...named, error });
    }
  }
}

const takenJob = (endpointId: EndpointId, { body, ...job }: AssignedJob, extras: RawJson): TakenJob => ({
  endpointId,
  jobId: job.jobId,
  attempt: job.attempt,
  token: job.token,
  input: body.input,
  extras,
  executionTimeoutMs: job.executionTimeoutMs,
  expiresInMs: job.expiresInMs,
  delayTimeMs: job.delayTimeMs,
  retries: job.retries,
  traceparent: body.traceparent,
});
