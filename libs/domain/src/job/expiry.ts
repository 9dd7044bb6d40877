import type { Job } from './job.js';
import { isEnded } from './job-state.js';
import { TTL_MAX_MS } from './policy.js';

/** Whole seconds, never below one: the broker's message TTL knows nothing finer. */
const wholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000)) * 1000;

/** The instant at which the job disappears: the earlier of TTL and retention (decisions, "Result retention"). */
export const disappearsAtMs = (job: Job): number =>
  isEnded(job.state) && job.endedAtMs !== null
    ? Math.min(job.expiresAtMs, job.endedAtMs + job.retentionMs)
    : job.expiresAtMs;

export const isGone = (job: Job, nowMs: number): boolean => nowMs >= disappearsAtMs(job);

/** What is left of the record's life, as the broker's TTL in ms. */
export const recordTtlMs = (job: Job, nowMs: number): number => wholeSeconds(disappearsAtMs(job) - nowMs);

/** Tickets, blobs and chunks outlive every record that may still name them, by the slack given here. */
export const ATTACHMENT_SLACK_MS = 10 * 60_000;

/**
 * As long as any job of that age may live, since a caller may prolong it (`/status?ttl=`). What a job leaves behind
 * when it goes earlier is the pruner's.
 */
export const attachmentTtlMs = (job: Pick<Job, 'createdAtMs'>, nowMs: number): number =>
  wholeSeconds(job.createdAtMs + TTL_MAX_MS + ATTACHMENT_SLACK_MS - nowMs);
