import type { JobKey } from '@berth/domain';

/** How far a reader has come: the next chunk is `index` of `attempt`; another attempt begins at its first. */
export interface StreamCursor {
  readonly attempt: number;
  readonly index: number;
}

/** One API key that reads what one job streams. */
export interface ReaderKey extends JobKey {
  readonly keyId: string;
}

export interface KeptCursor {
  readonly cursor: StreamCursor;
  readonly sequence: number;
}

/** A cursor is forgotten when it was not written for so long; its reader begins at the start again. */
export const READER_CURSOR_MS = 30 * 60_000;

/** The cursors of readers that send none, for all routers. Losing one costs its reader a repeat, never a chunk. */
export interface ReaderCursors {
  /** As the last acknowledged write left it; null: never written, forgotten, or lost with a broker's memory. */
  read(reader: ReaderKey): Promise<KeptCursor | null>;
  /**
   * Keeps the cursor for `READER_CURSOR_MS` more, over exactly the version named (0: over nothing).
   * Returns the new sequence, or null when another version is there or the outcome is unknown.
   */
  write(reader: ReaderKey, cursor: StreamCursor, expectedSequence: number): Promise<number | null>;
}
