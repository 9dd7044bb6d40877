/** The rows that one bucket of snapshots reflects. */
export interface SnapshotTruth<Value> {
  /** Name of the bucket. */
  readonly bucket: string;
  /** What the bucket should hold, by key. */
  all(): Promise<ReadonlyMap<string, Value>>;
  /**
   * Runs `act` with the key's value as it is now, null for none, and keeps writers of the row waiting meanwhile: a write
   * that is being published is seen whole or not at all.
   */
  holding(key: string, act: (value: Value | null) => Promise<void>): Promise<void>;
}
