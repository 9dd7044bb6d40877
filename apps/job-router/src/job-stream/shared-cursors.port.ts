import type { KeptCursor, ReaderCursors, ReaderKey, StreamCursor } from '@berth/payloads';

/** The cursors of readers, for all routers. */
export abstract class SharedCursors implements ReaderCursors {
  abstract read(reader: ReaderKey): Promise<KeptCursor | null>;
  abstract write(reader: ReaderKey, cursor: StreamCursor, expectedSequence: number): Promise<number | null>;
}
