import { encodeJson } from '../json/index.js';
import { PURGED_EXPIRY_MS, isGone } from './expiry.js';
import type { Job } from './job.js';
import { changed, refused, type Verdict } from './verdict.js';

const EMPTY = encodeJson({});

/**
 * Removes a job that waits for this very attempt, its delay over or not. Removed is no state: the record gets an end of
 * life that is past for every clock, and loses what it carried, so that it may lie small until the broker drops it.
 */
export function purgeJob(job: Job, attempt: number, nowMs: number): Verdict {
  if (isGone(job, nowMs)) return refused(job, 'gone');
  if (job.attempt !== attempt) return refused(job, 'other-attempt');
  if (job.state !== 'IN_QUEUE') return refused(job, 'not-queued');
  return changed({
    ...job,
    expiresAtMs: PURGED_EXPIRY_MS,
    input: { kind: 'inline', json: EMPTY },
    extras: EMPTY,
    sealedExtras: null,
    webhook: null,
    history: [],
  });
}
