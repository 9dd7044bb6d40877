import type { Job } from './job.js';
import { canMove, type JobState } from './job-state.js';

/** Why a transition does not apply. Each is an ordinary outcome of a race, never an error. */
export type Refusal =
  | 'gone' // past its TTL or retention, or purged
  | 'not-queued' // someone else has it, or it has ended
  | 'other-attempt' // the ticket or lease speaks of an attempt that is over
  | 'not-yet' // the delay between attempts still runs
  | 'superseded' // the token is not the current attempt's
  | 'ended' // it has a final state already
  | 'not-retriable' // only FAILED and TIMED_OUT are tried again at a caller's word
  | 'not-stopping'; // nobody has asked the worker of this attempt to let go

/** `unchanged`: what was asked for is already so, by the same hand. */
export type Verdict =
  | { readonly kind: 'changed'; readonly job: Job }
  | { readonly kind: 'unchanged'; readonly job: Job }
  | { readonly kind: 'refused'; readonly reason: Refusal; readonly job: Job };

export const changed = (job: Job): Verdict => ({ kind: 'changed', job });
export const unchanged = (job: Job): Verdict => ({ kind: 'unchanged', job });
export const refused = (job: Job, reason: Refusal): Verdict => ({ kind: 'refused', reason, job });

export function move(job: Job, state: JobState, fields: Partial<Job>): Job {
  if (!canMove(job.state, state)) throw new Error(`job ${job.id}: no transition from ${job.state} to ${state}`);
  return { ...job, ...fields, state };
}
