import type {
  AccountId,
  EndpointId,
  HistoryChanges,
  JobDetail,
  JobKey,
  JobState,
  JobSummary,
  PageKey,
} from '@berth/domain';
import type { EventPosition } from '@berth/messaging';

/** How far the history has come. */
export interface HistoryProgress {
  /** The last event that is in it; null: none, so it begins with the oldest. */
  readonly position: EventPosition | null;
  /** Everything that ended before this instant (Unix ms) is in it. */
  readonly completeUntilMs: number;
}

/** A version of a record by its number. */
export interface RecordVersion extends JobKey {
  readonly attempt: number;
  readonly recordSequence: number;
  readonly createdAtMs: number;
}

export interface ProjectionOutcome {
  readonly written: number;
  readonly removed: number;
  /** Rows that were left out, because no partition is kept for a job so old, or because the endpoint is gone. */
  readonly placeless: number;
  readonly ownerless: number;
}

export interface HistoryQuery {
  readonly accountId: AccountId;
  readonly endpointId: EndpointId;
  readonly statuses: readonly JobState[];
  /** Below this job; null: from the latest on. */
  readonly before: PageKey | null;
  readonly limit: number;
}

/** The database takes none of what it was given, because one row of it breaks a rule. */
export class RefusedRowError extends Error {
  constructor(cause: unknown) {
    super('A row breaks a rule of the job history.', { cause });
    this.name = 'RefusedRowError';
  }
}

/** Where the projector keeps what it has made of the records. */
export interface ProjectedHistory {
  progress(): Promise<HistoryProgress | null>;
  /**
   * Writes all of it or nothing; null: the term is over, so nothing. A change that is there already, or that something
   * newer has overtaken, changes nothing.
   *
   * @throws RefusedRowError; PlatformError `service-unavailable`
   * @param progress kept with the changes; null: they come from the records and the place among the events stays
   */
  project(
    changes: HistoryChanges,
    progress: HistoryProgress | null,
    term: { readonly name: string; readonly number: number },
  ): Promise<ProjectionOutcome | null>;
  /** Those of which the history has an older version, or none. */
  missing(versions: readonly RecordVersion[]): Promise<readonly RecordVersion[]>;
  /** Jobs that are not listed because they were queued again after an end, with the version that said so. */
  unended(limit: number): Promise<readonly (JobKey & { readonly recordSequence: number })[]>;
  /** Removes at most `max` rows of endpoints that were deleted; returns how many there were. */
  removeOrphans(max: number): Promise<number>;
}

/** One job of an account. */
export interface HistoryKey extends JobKey {
  readonly accountId: AccountId;
}

/** What is asked of the history. */
export interface HistoryReader {
  list(query: HistoryQuery): Promise<readonly JobSummary[]>;
  find(key: HistoryKey): Promise<JobDetail | null>;
  progress(): Promise<HistoryProgress | null>;
}
