import { LIFE_MIN_MS, PlatformError, TTL_MAX_MS, type Job, type JobKey } from '@berth/domain';
import { replaceJobLife, type JobStore } from '@berth/jobs';
import { jobNotFound } from '../ids.js';

/**
 * The `ttl` of a status request in ms; null where there is none.
 *
 * @throws PlatformError `invalid-query` naming the bounds
 */
export function parseTtl(text: unknown): number | null {
  if (text === undefined) return null;
  const value = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= LIFE_MIN_MS && value <= TTL_MAX_MS) return value;
  const failure = `ttl: must be an integer from ${LIFE_MIN_MS} to ${TTL_MAX_MS} (milliseconds)`;
  throw new PlatformError('invalid-query', failure, { errors: [failure] });
}

/** Changes for callers how long jobs live. */
export class JobLife {
  readonly #store: JobStore;

  constructor(store: JobStore) {
    this.#store = store;
  }

  /** @throws PlatformError `job-not-found`, `service-unavailable` */
  async replace(key: JobKey, leftMs: number): Promise<Job> {
    const job = await replaceJobLife(this.#store, key, leftMs);
    if (job === null) throw jobNotFound();
    return job;
  }
}
