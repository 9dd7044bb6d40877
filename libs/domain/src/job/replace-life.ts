import { isGone } from './expiry.js';
import type { Job } from './job.js';
import { TTL_MAX_MS } from './policy.js';
import { changed, refused, unchanged, type Verdict } from './verdict.js';

/**
 * Replaces what is left of a job's life, longer or shorter: it is gone `leftMs` from now, cut to the longest life that a
 * job may have from its submission. The result of an ended job lives as long as the job then.
 */
export function replaceLife(job: Job, leftMs: number, nowMs: number): Verdict {
  if (isGone(job, nowMs)) return refused(job, 'gone');
  const expiresAtMs = Math.min(nowMs + leftMs, job.createdAtMs + TTL_MAX_MS);
  const keptMs = job.endedAtMs === null ? 0 : expiresAtMs - job.endedAtMs;
  const retentionMs = Math.max(job.retentionMs, keptMs);
  if (expiresAtMs === job.expiresAtMs && retentionMs === job.retentionMs) return unchanged(job);
  return changed({ ...job, expiresAtMs, retentionMs });
}
