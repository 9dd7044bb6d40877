import { encodeJson, type EndpointId, type JobKey, type RawJson } from '@berth/domain';
import type { Jobs } from '../edge/index.js';
import { briefBody } from './job-body.js';
import type { JobMetrics } from './metrics.js';

/** Changes jobs at callers' word, and counts what they asked for. */
export class JobCommands {
  readonly #jobs: Pick<Jobs, 'cancel' | 'purge' | 'retry'>;
  readonly #metrics: Pick<JobMetrics, 'cancelled' | 'purged'>;

  constructor(jobs: Pick<Jobs, 'cancel' | 'purge' | 'retry'>, metrics: Pick<JobMetrics, 'cancelled' | 'purged'>) {
    this.#jobs = jobs;
    this.#metrics = metrics;
  }

  /**
   * `CANCELLED` at once for a job that waits or runs; an ended one keeps the state it has.
   *
   * @throws PlatformError `job-not-found`, `service-unavailable`
   */
  async cancel(key: JobKey): Promise<RawJson> {
    const job = await this.#jobs.cancel(key);
    this.#metrics.cancelled.inc();
    return briefBody(job);
  }

  /**
   * Queues a failed or timed-out job again.
   *
   * @throws PlatformError `job-not-found`, `job-not-retriable`, `service-unavailable`
   */
  async retry(key: JobKey): Promise<RawJson> {
    return briefBody(await this.#jobs.retry(key));
  }

  /**
   * Removes the jobs that wait now; those in progress stay.
   *
   * @throws PlatformError `service-unavailable`; what was removed by then stays removed, the rest stays queued
   */
  async purge(endpointId: EndpointId): Promise<RawJson> {
    const removed = await this.#jobs.purge(endpointId);
    this.#metrics.purged.inc(removed);
    return encodeJson({ removed, status: 'completed' });
  }
}
