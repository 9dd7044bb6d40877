/**
 * The agent's knowledge of the workers it started, kept over its own restarts. The records are the caller's: JSON
 * values under a key, written durably before the promise resolves.
 */
export interface WorkerRecords {
  /** Adds or replaces. @throws JournalFullError when the disk budget is used up */
  put(key: string, value: unknown): Promise<void>;
  /** Absent is success. */
  remove(key: string): Promise<void>;
  /** As they were put; check their shape before trusting it. */
  list(): ReadonlyMap<string, unknown>;
}
