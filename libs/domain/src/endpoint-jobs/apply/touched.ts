import type { HostId, JobId } from '../../ids.js';

/** Tells a host to let an attempt go. */
export interface StopOrder {
  readonly hostId: HostId;
  readonly jobId: JobId;
  readonly attempt: number;
  readonly token: string;
  readonly reason: 'cancelled' | 'timed out' | 'expired' | 'endpoint deleted';
}

/** What a fact did to one job, for those who have to be told once the fact is committed: who watches it, who holds it. */
export interface TouchedJob {
  readonly jobId: JobId;
  readonly now: 'moved' | 'ended' | 'gone';
  readonly stop: StopOrder | null;
}

export const moved = (jobId: JobId): readonly TouchedJob[] => [{ jobId, now: 'moved', stop: null }];
