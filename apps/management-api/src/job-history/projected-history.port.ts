import type { LogPosition } from '@berth/contracts';
import type { HistoryRow, RowPlace } from '@berth/domain';

/** How far the history has come in a shard of the logs. */
export interface ShardProgress {
  readonly position: LogPosition;
  /** Everything of the shard that ended before this instant (Unix ms) is in the history; null: that was never so. */
  readonly completeUntilMs: number | null;
}

export interface ShardMove {
  readonly shard: number;
  /** Where the shard must still be. */
  readonly from: ShardProgress;
  readonly to: ShardProgress;
}

export interface WriteOutcome {
  readonly written: number;
  /** Rows that were left out, because no partition is kept for a job so old, or because the endpoint is gone. */
  readonly placeless: number;
  readonly ownerless: number;
}

/** Where the projector keeps what it has made of the logs. */
export interface ProjectedHistory {
  /** By shard; one of which nothing has been read is not there. */
  progress(): Promise<ReadonlyMap<number, ShardProgress>>;
  /** False: that was said of the shard before. */
  begin(shard: number, position: LogPosition): Promise<boolean>;
  /** The rows at those places, as far as there are any. */
  known(places: readonly RowPlace[]): Promise<readonly HistoryRow[]>;
  /**
   * Writes the rows and the move, or nothing; null: the shard is not where the move begins, so nothing.
   *
   * @throws RefusedRowError; PlatformError `service-unavailable`
   */
  write(rows: readonly HistoryRow[], move: ShardMove): Promise<WriteOutcome | null>;
  /** Says of shards that still are where they were until when they are complete. */
  confirm(shards: ReadonlyMap<number, ShardProgress>): Promise<void>;
}
