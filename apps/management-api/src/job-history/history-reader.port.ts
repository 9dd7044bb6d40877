import type { AccountId, EndpointId, JobDetail, JobKey, JobState, JobSummary, PageKey } from '@berth/domain';

export interface HistoryQuery {
  readonly accountId: AccountId;
  readonly endpointId: EndpointId;
  readonly statuses: readonly JobState[];
  /** Below this job; null: from the latest on. */
  readonly before: PageKey | null;
  readonly limit: number;
}

/** One job of an account. */
export interface HistoryKey extends JobKey {
  readonly accountId: AccountId;
}

/** What is asked of the history. */
export interface HistoryReader {
  /** Up to when the history is whole, as far as the endpoint goes. Unix ms; null: it never was. */
  completeUntilMs(endpointId: EndpointId): Promise<number | null>;
  list(query: HistoryQuery): Promise<readonly JobSummary[]>;
  find(key: HistoryKey): Promise<JobDetail | null>;
}
