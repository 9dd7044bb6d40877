import { PlatformError, type Job, type JobKey, type JobState, type RawJson } from '@berth/domain';
import { retry, type JobStore } from '@berth/jobs';
import { jobNotFound } from '../ids.js';
import { briefBody } from './job-body.js';
import type { JobMetrics } from './metrics.js';

const ADVICE: Readonly<Partial<Record<JobState, string>>> = {
  IN_QUEUE: 'It waits for a worker already.',
  IN_PROGRESS: 'It is being worked on; wait for its end.',
  COMPLETED: 'Submit the input again with /run for another result.',
  CANCELLED: 'Submit the input again with /run.',
};

/** Queues failed and timed-out jobs again for callers. */
export class JobRetry {
  readonly #store: JobStore;
  readonly #metrics: JobMetrics;

  constructor(store: JobStore, metrics: JobMetrics) {
    this.#store = store;
    this.#metrics = metrics;
  }

  /** @throws PlatformError `job-not-found`, `job-not-retriable`, `service-unavailable` */
  async retry(key: JobKey): Promise<RawJson> {
    const outcome = await retry(this.#store, key);
    if (outcome.kind === 'not-found') throw jobNotFound();
    if (outcome.kind === 'refused') throw outcome.reason === 'gone' ? jobNotFound() : notRetriable(outcome.job);
    if (outcome.kind === 'changed') this.#metrics.retried.inc();
    return briefBody(outcome.job);
  }
}

const notRetriable = ({ state }: Job): PlatformError =>
  new PlatformError(
    'job-not-retriable',
    `The job is ${state}, and only FAILED and TIMED_OUT jobs can be retried. ${ADVICE[state] ?? ''}`.trim(),
  );
