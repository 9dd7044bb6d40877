import type { TakenJob } from '@berth/contracts';
import { jobTimes, retriesOf, type Job, type RawJson } from '@berth/domain';
import { finishAttempt, type JobStore } from '@berth/jobs';
import { SecretError, type SecretBox } from '@berth/secrets';
import type { Logger } from '@berth/telemetry';
import { openExtras } from '../sealed-extras.js';

export interface HandOutOptions {
  readonly store: JobStore;
  readonly secrets: SecretBox;
  readonly logger: Logger;
  /** Told of each job that could not be handed out. */
  readonly onUnopened: () => void;
}

/** What a caller reads whose secrets are lost with the operator's key. */
const UNOPENED = 's3Config cannot be opened: the key that sealed it is not there any more; submit the job again';

/** Makes of taken jobs what their agent gets. Only here is readable what a caller gave in confidence. */
export class HandOut {
  readonly #options: HandOutOptions;

  constructor(options: HandOutOptions) {
    this.#options = options;
  }

  /** The jobs that can be handed out, each with its message; the others have failed, for another try would fail too. */
  async open(jobs: readonly Job[]): Promise<readonly { readonly job: Job; readonly taken: TakenJob }[]> {
    const nowMs = this.#options.store.clock.nowMs();
    const opened = await Promise.all(
      jobs.map(async (job) => {
        const taken = takenJob(job, await this.#extrasOf(job), nowMs);
        return taken === null ? [] : [{ job, taken }];
      }),
    );
    return opened.flat();
  }

  async #extrasOf(job: Job): Promise<RawJson | null> {
    const { logger, onUnopened, secrets } = this.#options;
    try {
      return openExtras(secrets, job);
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      logger.error('a job cannot be handed out: its sealed members cannot be opened', { jobId: job.id, error });
      onUnopened();
      await this.#fail(job);
      return null;
    }
  }

  /** Where the store does not answer the lease runs out, as with any attempt that nobody holds. */
  async #fail(job: Job): Promise<void> {
    const { logger, store } = this.#options;
    const ref = { endpointId: job.endpointId, jobId: job.id, token: job.current?.token ?? '' };
    try {
      await finishAttempt(store, ref, { kind: 'failed', error: UNOPENED, output: null, chunks: 0 });
    } catch (error) {
      logger.warn('a job that cannot be handed out could not be ended', { jobId: job.id, error });
    }
  }
}

const takenJob = (job: Job, extras: RawJson | null, nowMs: number): TakenJob | null =>
  job.current === null || extras === null
    ? null
    : {
        endpointId: job.endpointId,
        jobId: job.id,
        attempt: job.attempt,
        token: job.current.token,
        input: job.input,
        extras,
        executionTimeoutMs: Math.max(1, job.current.deadlineAtMs - nowMs),
        expiresInMs: Math.max(1, job.expiresAtMs - nowMs),
        delayTimeMs: jobTimes(job, nowMs).delayTime,
        retries: retriesOf(job),
        traceparent: job.traceparent,
      };
