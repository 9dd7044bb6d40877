import { isEnded, type JobState } from './job-state.js';
import { TTL_MAX_MS } from './policy.js';

/** The data that say how long a job lives. Instants are Unix ms. */
export interface Lifetime {
  readonly state: JobState;
  readonly endedAtMs: number | null;
  /** The TTL's end: the job is gone from then on, in any state. */
  readonly expiresAtMs: number;
  /** How long the result stays readable from the end. */
  readonly retentionMs: number;
}

/** The instant at which the job disappears: the earlier of TTL and retention (API decisions 2.6). */
export const disappearsAtMs = ({ endedAtMs, expiresAtMs, retentionMs, state }: Lifetime): number =>
  isEnded(state) && endedAtMs !== null ? Math.min(expiresAtMs, endedAtMs + retentionMs) : expiresAtMs;

/** Blobs and chunks outlive every job that may still name them by this much. */
export const ATTACHMENT_SLACK_MS = 10 * 60_000;

/**
 * How long the broker shall keep what lies beside a log, in ms: as long as any job of that age may live, since a caller
 * may prolong it (`/status?ttl=`). The leftovers of a job that goes earlier are removed by its owner.
 */
export const attachmentTtlMs = ({ createdAtMs }: { readonly createdAtMs: number }, nowMs: number): number =>
  wholeSeconds(createdAtMs + TTL_MAX_MS + ATTACHMENT_SLACK_MS - nowMs);

/** Whole seconds, never below one: the broker's message TTL knows nothing finer. */
const wholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000)) * 1000;
