import {
  READER_CURSOR_MS,
  type KeptCursor,
  type ReaderCursors,
  type ReaderKey,
  type StreamCursor,
} from '@berth/payloads';
import type { Broker } from '../broker/broker.js';
import { API_ERROR, BrokerApiError } from '../broker/broker-errors.js';
import { publishMessage } from '../broker/publish-message.js';
import { readLatest } from '../broker/read-message.js';
import { STREAMS, readerCursorSubject } from '../topology/subjects.js';
import { encodeReaderCursor, readReaderCursor } from './reader-cursor-codec.js';

/** Before every chunk of every attempt. */
const START: StreamCursor = { attempt: 0, index: 0 };

/** Cursors as messages that expire, in memory: one subject for each reader and job. */
export class JetStreamReaderCursors implements ReaderCursors {
  readonly #broker: Broker;
  readonly #lifeMs: number;

  /** @param lifeMs how long a cursor is kept; shorter only where a test waits for its end */
  constructor(broker: Broker, lifeMs = READER_CURSOR_MS) {
    this.#broker = broker;
    this.#lifeMs = lifeMs;
  }

  /** From the leader: the reader's last answer may have come from another router a moment ago. */
  async read(reader: ReaderKey): Promise<KeptCursor | null> {
    try {
      const message = await readLatest(
        this.#broker,
        STREAMS.readerCursors(reader.endpointId),
        readerCursorSubject(reader),
      );
      if (message === null) return null;
      const reading = readReaderCursor(message.body);
      if (reading.kind === 'value') return { cursor: reading.value, sequence: message.sequence };
      this.#broker.noteUnreadable({ place: 'reader cursors', key: message.subject, reason: reading.reason });
      // Its reader begins at the start again, and writes over it.
      return { cursor: START, sequence: message.sequence };
    } catch (error) {
      // A broker that restarts alone has no stream in memory until it is made again: nothing is there, as in a new one.
      if (error instanceof BrokerApiError && error.code === API_ERROR.streamNotFound) return null;
      throw error;
    }
  }

  async write(reader: ReaderKey, cursor: StreamCursor, expectedSequence: number): Promise<number | null> {
    const outcome = await publishMessage(this.#broker, {
      subject: readerCursorSubject(reader),
      body: encodeReaderCursor(cursor),
      ttlMs: this.#lifeMs,
      expectedSequence,
    });
    return outcome.kind === 'stored' ? outcome.sequence : null;
  }
}
