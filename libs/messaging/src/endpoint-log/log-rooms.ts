import { UNREAD_KEPT_MS } from '@berth/domain';
import { ControlLoop, inParallel, type Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { readBatch } from '../broker/direct-batch.js';
import { BROKER_HEADERS } from '../broker/headers.js';
import { readStreamHead, type StreamHead } from '../broker/stream-head.js';
import { logFilter, logStream } from '../topology/subjects.js';

/** The stream of a shard's logs, as it was at the last look. Sequences are of it; 0: none. */
export interface LogRoom {
  /** Bytes in it, as a share of those that it may hold. */
  readonly fill: number;
  readonly lastSequence: number;
  /** The newest batch that was `UNREAD_KEPT_MS` old, as far as anything as old is there at all. */
  readonly agedThrough: number;
}

export interface LogRoomsOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  /** Those that are looked at: a router looks at what it owns. */
  readonly shards: () => readonly number[];
  /** Told in the turn of each look. Must not throw. */
  readonly onSeen?: (shard: number, room: LogRoom) => void;
  /** Told where streams could not be looked at; until the next look what was known of them counts. */
  readonly onError: (error: unknown) => void;
}

interface Aged {
  readonly through: number;
  /** When that was asked, monotonic. */
  readonly askedAtMs: number;
}

interface Seen {
  readonly created: string;
  readonly lastSequence: number;
  readonly bytes: number;
  /** Null: as much as comes. */
  readonly maxBytes: number | null;
  readonly aged: Aged;
  /** Brought here since. */
  broughtBytes: number;
}

const LOOK_INTERVAL_MS = 1_000;
const AGED_INTERVAL_MS = 60_000;
const LOOKS_AT_ONCE = 4;

/** How much room there is for logs, and what in them is old, shard by shard. */
export class LogRooms {
  readonly #options: LogRoomsOptions;
  readonly #loop: ControlLoop;
  readonly #seen = new Map<number, Seen>();

  constructor(options: LogRoomsOptions) {
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'endpoint.log-rooms',
      intervalMs: LOOK_INTERVAL_MS,
      clock: options.clock,
      run: () => this.look(),
      onError: (_name, error) => options.onError(error),
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Undefined: it has not been looked at since it is one of those that are. */
  of(shard: number): LogRoom | undefined {
    const seen = this.#seen.get(shard);
    return seen === undefined ? undefined : roomOf(seen);
  }

  /** Share of the fullest of them. */
  get fullest(): number {
    return Math.max(0, ...[...this.#seen.values()].map(fillOf));
  }

  /** So much is about to be written, and counts until the shard is looked at again. */
  bring(shard: number, bytes: number): void {
    const seen = this.#seen.get(shard);
    if (seen !== undefined) seen.broughtBytes += bytes;
  }

  /** One look at each shard. */
  async look(): Promise<void> {
    const shards = this.#options.shards();
    for (const shard of this.#seen.keys()) if (!shards.includes(shard)) this.#seen.delete(shard);
    const failures: unknown[] = [];
    await inParallel(shards, LOOKS_AT_ONCE, async (shard) => {
      try {
        await this.#look(shard);
      } catch (error) {
        failures.push(error);
      }
    });
    if (failures.length > 0) this.#options.onError(failures[0]);
  }

  async #look(shard: number): Promise<void> {
    const head = await readStreamHead(this.#options.broker, logStream(shard));
    if (head === null) {
      this.#seen.delete(shard);
      return;
    }
    const { bytes, created, lastSequence, maxBytes } = head;
    const aged = await this.#agedOf(shard, head);
    const seen = { created, lastSequence, bytes, maxBytes, aged, broughtBytes: 0 };
    this.#seen.set(shard, seen);
    this.#options.onSeen?.(shard, roomOf(seen));
  }

  async #agedOf(shard: number, head: StreamHead): Promise<Aged> {
    const seen = this.#seen.get(shard);
    const known = seen?.created === head.created ? seen.aged : UNASKED;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - known.askedAtMs < AGED_INTERVAL_MS) return known;
    return { through: await this.#agedThrough(shard, head, known.through), askedAtMs: nowMs };
  }

  async #agedThrough(shard: number, { lastSequence, span }: StreamHead, known: number): Promise<number> {
    const sinceMs = this.#options.clock.nowMs() - UNREAD_KEPT_MS;
    if (span === null || span.oldestAtMs > sinceMs) return 0;
    if (span.newestAtMs <= sinceMs) return lastSequence;
    const question = { next_by_subj: logFilter(shard), start_time: new Date(sinceMs).toISOString(), batch: 1 };
    let first: number | null = null;
    await readBatch(
      this.#options.broker,
      { stream: logStream(shard), question: JSON.stringify(question) },
      ({ headers }) => {
        first = Number(headers?.get(BROKER_HEADERS.sequence));
      },
    );
    // A replica that is behind has nothing so new.
    return first === null ? known : first - 1;
  }
}

const UNASKED: Aged = { through: 0, askedAtMs: Number.NEGATIVE_INFINITY };

const fillOf = ({ broughtBytes, bytes, maxBytes }: Seen): number =>
  maxBytes === null ? 0 : (bytes + broughtBytes) / maxBytes;

const roomOf = (seen: Seen): LogRoom => ({
  ...{ fill: fillOf(seen), lastSequence: seen.lastSequence },
  agedThrough: seen.aged.through,
});
