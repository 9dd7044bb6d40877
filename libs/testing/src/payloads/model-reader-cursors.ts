import { READER_CURSOR_MS, type ReaderCursors, type ReaderKey, type StreamCursor } from '@berth/payloads';
import type { Clock } from '@berth/lifecycle';
import { ExpiringValues } from './expiring-values.js';

const readerName = ({ endpointId, jobId, keyId }: ReaderKey): string => `${endpointId}/${jobId}/${keyId}`;

/** The cursors of readers in memory. The conformance suite holds them to what a real broker does. */
export class ModelReaderCursors implements ReaderCursors {
  readonly #cursors: ExpiringValues<StreamCursor>;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#cursors = new ExpiringValues(clock);
  }

  async read(reader: ReaderKey): ReturnType<ReaderCursors['read']> {
    const kept = this.#cursors.get(readerName(reader));
    return kept === null ? null : { cursor: kept.value, sequence: kept.sequence };
  }

  async write(...[reader, cursor, expected]: Parameters<ReaderCursors['write']>): ReturnType<ReaderCursors['write']> {
    const present = this.#cursors.get(readerName(reader))?.sequence ?? 0;
    return present === expected ? this.#cursors.set(readerName(reader), cursor, READER_CURSOR_MS) : null;
  }

  /** They lie in memory, so a broker that restarts alone has none. */
  restart(): void {
    this.#cursors.removeAll();
  }
}
