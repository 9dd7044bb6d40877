/** One key of a bucket whose rows have changed. Its value is not here: the rows say it when it is published. */
export interface SnapshotChange {
  /** Name of the bucket. */
  readonly bucket: string;
  readonly key: string;
}

export interface OutboxEntry extends SnapshotChange {
  /** Grows with every entry. */
  readonly position: string;
}

export interface OutboxBacklog {
  readonly entries: number;
  /** 0 where there is none. */
  readonly oldestAgeSeconds: number;
}

/** Changes that have not been published yet. */
export interface SnapshotOutbox {
  /** A part of the caller's transaction: the change and its entries exist together or not at all. */
  add(bucket: string, keys: readonly string[]): Promise<readonly OutboxEntry[]>;
  /** Those behind a position, oldest first. */
  after(position: string, limit: number): Promise<readonly OutboxEntry[]>;
  /** Once they are published. Absent is success. */
  remove(positions: readonly string[]): Promise<void>;
  has(change: SnapshotChange): Promise<boolean>;
  backlog(): Promise<OutboxBacklog>;
}
