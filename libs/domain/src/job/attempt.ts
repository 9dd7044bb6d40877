import type { HostId, WorkerId } from '../ids.js';
import type { JobState } from './job-state.js';

/** One attempt that is over, as the job's history keeps it. */
export interface AttemptRecord {
  readonly attempt: number;
  readonly hostId: HostId;
  readonly workerId: WorkerId;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** How it ended: a final state, or `lost` when it was queued again. */
  readonly outcome: JobState | 'lost';
  readonly reason: string;
  /** When the worker of an attempt that was cancelled or timed out really let go; null until its host has said so. */
  readonly stoppedAtMs: number | null;
  /** The last lines that its worker wrote, oldest first; empty where nobody is left to tell. */
  readonly logTail: readonly string[];
}

/** The attempt that owns the job now. The token is the fence: only its holder's result counts. */
export interface CurrentAttempt {
  readonly token: string;
  readonly hostId: HostId;
  readonly workerId: WorkerId;
  readonly startedAtMs: number;
  /** The instant at which the execution timeout ends this attempt. */
  readonly deadlineAtMs: number;
}

/** Where an attempt runs, or ran, and since when. */
export type AttemptPlace = Pick<CurrentAttempt, 'hostId' | 'workerId' | 'startedAtMs'>;
