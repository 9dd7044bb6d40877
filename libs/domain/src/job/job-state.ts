/** Wire words of the job API. */
export type JobState = 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TIMED_OUT';

/**
 * The only transitions there are. `IN_PROGRESS → IN_QUEUE` is always a new attempt, and so is
 * `FAILED | TIMED_OUT → IN_QUEUE`, which only a caller's retry takes. Leaving by TTL or purge removes the job and is
 * therefore no state.
 */
export const JOB_TRANSITIONS: Readonly<Record<JobState, readonly JobState[]>> = {
  IN_QUEUE: ['IN_PROGRESS', 'CANCELLED'],
  IN_PROGRESS: ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT', 'IN_QUEUE'],
  COMPLETED: [],
  FAILED: ['IN_QUEUE'],
  CANCELLED: [],
  TIMED_OUT: ['IN_QUEUE'],
};

export const JOB_STATES = Object.keys(JOB_TRANSITIONS) as readonly JobState[];

/** True once the job has its result: nothing but a caller's retry moves it again. */
export const isEnded = (state: JobState): boolean => state !== 'IN_QUEUE' && state !== 'IN_PROGRESS';

export const canMove = (from: JobState, to: JobState): boolean => JOB_TRANSITIONS[from].includes(to);
