import type { JobKey, RawJson } from '@berth/domain';
import { cancel, type JobStore } from '@berth/jobs';
import { jobNotFound } from '../ids.js';
import { briefBody } from './job-body.js';
import type { JobMetrics } from './metrics.js';

/** Cancels jobs for callers. */
export class JobCancel {
  readonly #store: JobStore;
  readonly #metrics: JobMetrics;

  constructor(store: JobStore, metrics: JobMetrics) {
    this.#store = store;
    this.#metrics = metrics;
  }

  /**
   * `CANCELLED` at once for a job that waits or runs; an ended one keeps the state it has.
   *
   * @throws PlatformError `job-not-found`, `service-unavailable`
   */
  async cancel(key: JobKey): Promise<RawJson> {
    const job = await cancel(this.#store, key);
    if (job === null) throw jobNotFound();
    this.#metrics.cancelled.inc();
    return briefBody(job);
  }
}
