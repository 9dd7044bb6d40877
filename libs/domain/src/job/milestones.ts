import { isEnded } from './job-state.js';
import type { Job, Milestone } from './job.js';

type Version = Pick<Job, 'state' | 'attempt'> & { readonly milestones?: readonly Milestone[] | undefined };

/** Attempts given back uncharged are not bounded by number, so the list is: the newest are kept. */
const MILESTONES_MAX = 32;

/** How many requeues this version itself stands for, beyond its milestones: one, or none. */
export const requeuesOf = ({ attempt, milestones }: Version): number =>
  Math.max(0, attempt - (milestones?.at(-1)?.attempt ?? 1));

/** True when this version is the job's end itself, and not an ended one that was written over. */
export function isEnd({ state, attempt, milestones }: Version): boolean {
  const last = milestones?.at(-1);
  return isEnded(state) && !(last?.state === state && last.attempt === attempt);
}

/** What the version that replaces this one has behind it. Only then is it known which number this one got. */
export function milestonesBehind(
  job: Pick<Job, 'state' | 'attempt' | 'milestones'>,
  sequence: number,
): readonly Milestone[] {
  const { state, attempt, milestones } = job;
  if (requeuesOf(job) === 0 && !isEnd(job)) return milestones;
  return [...milestones, { sequence, state, attempt }].slice(-MILESTONES_MAX);
}
