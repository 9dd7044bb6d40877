import type { AccountId, EndpointId, JobDetail, JobId, JobKey, JobState, JobSummary, PageKey } from '@berth/domain';

/** The questions of a router to the control plane about jobs that have ended. */
export const HISTORY_VERBS = ['list', 'get'] as const;
export type HistoryVerb = (typeof HISTORY_VERBS)[number];

export const historySubject = (verb: HistoryVerb): string => `history.${verb}`;

/** Jobs in one answer; each is at most about 5 KB. */
export const HISTORY_PAGE_MAX = 101;

/** The caller has been checked by the router; the account is in every question all the same. */
export interface HistoryListRequest {
  readonly accountId: AccountId;
  readonly endpointId: EndpointId;
  readonly statuses: readonly JobState[];
  /** Below this job; null: from the latest on. */
  readonly before: PageKey | null;
  /** 1 to `HISTORY_PAGE_MAX`. */
  readonly limit: number;
}

export interface HistoryListReply {
  /** Newest first. */
  readonly jobs: readonly JobSummary[];
  /** Everything that ended before this instant (Unix ms) is in the history; null: nothing was ever complete. */
  readonly completeUntilMs: number | null;
}

export interface HistoryGetRequest extends JobKey {
  readonly accountId: AccountId;
  readonly endpointId: EndpointId;
  readonly jobId: JobId;
}

export interface HistoryGetReply {
  readonly job: JobDetail | null;
  readonly completeUntilMs: number | null;
}
