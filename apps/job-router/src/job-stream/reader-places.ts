import type { ReaderCursors, ReaderKey, StreamCursor } from '@berth/payloads';
import type { Logger } from '@berth/telemetry';
import { isUnavailable } from '../owners/index.js';
import { STREAM_START, isBeyond } from './stream-cursor.js';

/** Readers remembered here; the one that has not moved for longest is forgotten first. */
const READERS_MAX = 50_000;

/** Other reads of the same job by the same key that may come in between. */
const ROUNDS_MAX = 5;

/** Where a reader stands, and the version of what all routers know about it (0: nothing). */
export interface ReaderPlace {
  readonly cursor: StreamCursor;
  readonly sequence: number;
}

/**
 * How far each API key has read each job, for clients that send no cursor: each of their reads moves on, whichever
 * router it comes to. The places that this router knows by itself count too: a broker that restarts forgets, and places
 * only move forward.
 */
export class ReaderPlaces {
  readonly #kept: ReaderCursors;
  readonly #logger: Logger;
  readonly #known = new Map<string, StreamCursor>();

  constructor(kept: ReaderCursors, logger: Logger) {
    this.#kept = kept;
    this.#logger = logger;
  }

  /** @throws PlatformError `service-unavailable` */
  async find(reader: ReaderKey): Promise<ReaderPlace> {
    const kept = await this.#kept.read(reader);
    const known = this.#known.get(nameOf(reader)) ?? STREAM_START;
    const isBehind = kept === null || isBeyond(known, kept.cursor);
    return { cursor: isBehind ? known : kept.cursor, sequence: kept?.sequence ?? 0 };
  }

  /**
   * To be called when the chunks before `next` have left for the reader, and before it can come back. A place that
   * cannot be kept costs the reader a repeat at another router, so it is no failure of the read.
   */
  async advance(reader: ReaderKey, place: ReaderPlace, next: StreamCursor): Promise<void> {
    this.#remember(nameOf(reader), next);
    try {
      await this.#keep(reader, place.sequence, next);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.#logger.warn('the place of a stream reader could not be kept', { jobId: reader.jobId, error });
    }
  }

  /** Two reads at one time may end in either order; the one that came further counts. */
  async #keep(reader: ReaderKey, sequence: number, next: StreamCursor): Promise<void> {
    let expected = sequence;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      if ((await this.#kept.write(reader, next, expected)) !== null) return;
      const kept = await this.#kept.read(reader);
      if (kept !== null && !isBeyond(next, kept.cursor)) return;
      expected = kept?.sequence ?? 0;
    }
  }

  #remember(name: string, next: StreamCursor): void {
    if (!isBeyond(next, this.#known.get(name) ?? STREAM_START)) return;
    this.#known.delete(name);
    this.#known.set(name, next);
    if (this.#known.size <= READERS_MAX) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}

const nameOf = ({ endpointId, jobId, keyId }: ReaderKey): string => `${endpointId}/${jobId}/${keyId}`;
