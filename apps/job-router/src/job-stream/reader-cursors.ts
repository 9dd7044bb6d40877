import type { JobKey } from '@berth/domain';
import { STREAM_START, type StreamCursor } from './stream-cursor.js';

/** Readers remembered; the one that has not read for longest is forgotten first and begins at the start again. */
const READERS_MAX = 50_000;

/**
 * How far each API key has read each job, for clients that send no cursor: each of their reads moves on. Kept in this
 * router's memory, so a reader that comes to another router begins at the start.
 */
export class ReaderCursors {
  readonly #cursors = new Map<string, StreamCursor>();

  read(key: JobKey, keyId: string): StreamCursor {
    return this.#cursors.get(nameOf(key, keyId)) ?? STREAM_START;
  }

  /** To be called when the chunks before `cursor` have reached the reader. */
  advance(key: JobKey, keyId: string, cursor: StreamCursor): void {
    const name = nameOf(key, keyId);
    const present = this.#cursors.get(name) ?? STREAM_START;
    if (!isBeyond(cursor, present)) return;
    this.#cursors.delete(name);
    this.#cursors.set(name, cursor);
    if (this.#cursors.size <= READERS_MAX) return;
    const [oldest] = this.#cursors.keys();
    if (oldest !== undefined) this.#cursors.delete(oldest);
  }
}

const nameOf = ({ endpointId, jobId }: JobKey, keyId: string): string => `${endpointId}/${jobId}/${keyId}`;

/** Two reads at one time may end in either order; the one that came further counts. */
const isBeyond = (cursor: StreamCursor, present: StreamCursor): boolean =>
  cursor.attempt > present.attempt || (cursor.attempt === present.attempt && cursor.index > present.index);
