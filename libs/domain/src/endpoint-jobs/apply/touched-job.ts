import type { HostId, JobId } from '../../ids.js';

/** Tells a host to let an attempt go. */
export interface StopOrder {
  readonly hostId: HostId;
  readonly jobId: JobId;
  readonly attempt: number;
  readonly token: string;
  readonly reason: 'cancelled' | 'timed out' | 'expired' | 'endpoint deleted';
}

/**
 * Things that may lie beside the log and are needed no more: everything of a job that is gone, or what an attempt that
 * is over has streamed and stored.
 */
export type Leftovers =
  | { readonly of: 'job' }
  | {
      readonly of: 'attempt';
      readonly attempt: number;
      readonly hasChunks: boolean;
      readonly hasOutput: boolean;
    };

/** How a job ended, for those who count. */
export interface CountedEnd {
  readonly outcome: 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TIMED_OUT';
  /** Of the attempt that was under way; null: none was. */
  readonly executionMs: number | null;
}

/**
 * The effect of a fact on one job, for those who have to be told once the fact is committed: the watchers of the job,
 * and its holder.
 */
export interface TouchedJob {
  readonly jobId: JobId;
  /** Of one job `gone` may be said twice: the second time when somebody has been told of its end at last. */
  readonly now: 'moved' | 'ended' | 'gone';
  readonly stop: StopOrder | null;
  /** Null: there is nothing. */
  readonly leftovers: Leftovers | null;
  /** Of the fact that ended the job; absent: it was another one. */
  readonly end?: CountedEnd;
}

export const moved = (jobId: JobId): readonly TouchedJob[] => [{ jobId, now: 'moved', stop: null, leftovers: null }];
