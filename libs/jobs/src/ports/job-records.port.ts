import type { Job, JobKey } from '@berth/domain';

export interface StoredJob {
  readonly job: Job;
  /** The record's version; a write names the one it expects. */
  readonly sequence: number;
}

/**
 * `unknown`: the store did not answer in time, so the write may have happened, may still happen, or may not.
 * Only reading back can tell.
 */
export type WriteOutcome =
  | { readonly kind: 'written'; readonly sequence: number }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown' };

/** The job records: one version per job, compare-and-set, expiring by themselves. */
export interface JobRecords {
  /**
   * The latest acknowledged version, or null when there is none (never was, expired, removed).
   * @throws PlatformError `service-unavailable` when the store cannot be asked
   */
  read(key: JobKey): Promise<StoredJob | null>;
  /** Writes the first version; `conflict` when any version or expiry marker is there. */
  create(job: Job, ttlMs: number): Promise<WriteOutcome>;
  /** Replaces exactly the version `expectedSequence`. */
  replace(job: Job, expectedSequence: number, ttlMs: number): Promise<WriteOutcome>;
}
