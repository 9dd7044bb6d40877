import type { JobKey } from '@berth/domain';

/** What a caller holds who waits for news of one job. */
export interface JobWatch {
  /** Resolves true when there was news since the watch began or last said so, else false after `timeoutMs` or an abort. */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  dispose(): void;
}

/** `any`: its record was written, or a chunk came. `end`: it has ended or was purged. */
export type JobNews = 'any' | 'end';

/** Tells that something about a job changed. A hint: notices may be lost, so readers also look on a timer. */
export abstract class JobNotices {
  /** To be called before the job is written or read, so that nothing in between is missed. Default: `any` news. */
  abstract watch(key: JobKey, news?: JobNews): JobWatch;
  /** Tells every router's watchers that a job has a new stream chunk; of its record the broker tells them itself. */
  abstract ring(key: JobKey): void;
}
