/** The rows that one bucket of snapshots reflects. */
export interface SnapshotTruth<Value> {
  /** Name of the bucket. */
  readonly bucket: string;
  /** The values that the bucket should hold, by key. */
  all(): Promise<ReadonlyMap<string, Value>>;
  /** The key's value as it is committed now; null for none. */
  one(key: string): Promise<Value | null>;
}
