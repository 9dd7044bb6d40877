import type { Job } from './job.js';
import { isEnded } from './job-state.js';
import { TTL_MAX_MS } from './policy.js';

/** Whole seconds, never below one: the broker's message TTL knows nothing finer. */
const wholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000)) * 1000;

/** The instant at which the job disappears: the earlier of TTL and retention (decisions, "Result retention"). */
export const disappearsAtMs = (job: Pick<Job, 'endedAtMs' | 'expiresAtMs' | 'retentionMs' | 'state'>): number =>
  isEnded(job.state) && job.endedAtMs !== null
    ? Math.min(job.expiresAtMs, job.endedAtMs + job.retentionMs)
    : job.expiresAtMs;

export const isGone = (job: Job, nowMs: number): boolean => nowMs >= disappearsAtMs(job);

/** The end of life that a purge writes: past for every clock, however wrong, so the job is gone everywhere at once. */
export const PURGED_EXPIRY_MS = 0;

/**
 * How long the broker keeps what a purge leaves: longer than a writer who got no answer takes to read back whose write
 * it was, since the number of purged jobs is promised to be exact.
 */
export const PURGED_RECORD_MS = 60_000;

export const isPurged = ({ expiresAtMs }: Pick<Job, 'expiresAtMs'>): boolean => expiresAtMs === PURGED_EXPIRY_MS;

/** How long the broker shall keep the record, in ms: what is left of the job's life. */
export const recordTtlMs = (job: Job, nowMs: number): number =>
  isPurged(job) ? PURGED_RECORD_MS : wholeSeconds(disappearsAtMs(job) - nowMs);

/** Tickets, blobs and chunks outlive every record that may still name them, by the slack given here. */
export const ATTACHMENT_SLACK_MS = 10 * 60_000;

/**
 * As long as any job of that age may live, since a caller may prolong it (`/status?ttl=`). What a job leaves behind
 * when it goes earlier is the pruner's.
 */
export const attachmentTtlMs = (job: Pick<Job, 'createdAtMs'>, nowMs: number): number =>
  wholeSeconds(job.createdAtMs + TTL_MAX_MS + ATTACHMENT_SLACK_MS - nowMs);
