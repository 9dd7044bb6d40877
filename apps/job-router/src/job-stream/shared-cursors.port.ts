import type { KeptCursor, ReaderCursors, ReaderKey, StreamCursor } from '@berth/jobs';

/** The cursors that all routers share, as this room is given them. */
export abstract class SharedCursors implements ReaderCursors {
  abstract read(reader: ReaderKey): Promise<KeptCursor | null>;
  abstract write(reader: ReaderKey, cursor: StreamCursor, expectedSequence: number): Promise<number | null>;
}
