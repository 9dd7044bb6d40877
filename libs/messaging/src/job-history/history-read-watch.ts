import { HISTORY_READ_SUBJECT, readHistoryRead, type LogPosition } from '@berth/contracts';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Msg, Subscription } from '@nats-io/transport-node';
import { watchConnection } from '../connection-watch.js';
import type { Broker } from '../broker/broker.js';
import { readStreamHead } from '../broker/stream-head.js';
import { LOG_SHARDS } from '../topology/shards.js';
import { logStream } from '../topology/subjects.js';

export interface HistoryReadWatchOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  /** Told when the streams could not be looked at; until the next look what was known of them counts. */
  readonly onError: (error: unknown) => void;
}

/** Streams are made anew by hand alone; where the broker was away they are looked at once more as soon as it is back. */
const LOOK_INTERVAL_MS = 10_000;

/** How far the job history has read the logs, as a router that wants to purge them must know it. */
export class HistoryReadWatch {
  readonly #options: HistoryReadWatchOptions;
  readonly #loop: ControlLoop;
  readonly #told = new Map<number, LogPosition>();
  /** When the streams that this router uses were made. */
  readonly #created = new Map<number, string>();
  #subscription: Subscription | undefined;

  constructor(options: HistoryReadWatchOptions) {
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'history-read.streams',
      intervalMs: LOOK_INTERVAL_MS,
      clock: options.clock,
      run: (signal) => this.#look(signal),
      onError: (_name, error) => options.onError(error),
    });
  }

  /** Starting twice is the same as starting once. */
  start(): void {
    if (this.#subscription !== undefined) return;
    const { connection } = this.#options.broker;
    this.#subscription = connection.subscribe(HISTORY_READ_SUBJECT, {
      callback: (error, message) => {
        if (error === null) this.#take(message);
        else this.#note(error.message);
      },
    });
    this.#loop.start();
    watchConnection(connection, {
      // The broker that comes back may be another one, with streams of its own.
      onLost: () => {
        this.#created.clear();
      },
      onBack: () => {
        this.#loop.hurry();
      },
    });
  }

  async stop(): Promise<void> {
    this.#subscription?.unsubscribe();
    await this.#loop.stop();
  }

  /** The sequence through which the shard's stream has been read; 0 while that is not known of this very stream. */
  readThrough(shard: number): number {
    const told = this.#told.get(shard);
    return told !== undefined && told.streamCreated === this.#created.get(shard) ? told.sequence : 0;
  }

  /**
   * The position that was told last counts, also where it is less: a database may have been put back to an earlier day.
   */
  #take(message: Msg): void {
    const reading = readHistoryRead(message.data);
    if (reading.kind === 'unreadable') {
      this.#note(reading.reason);
      return;
    }
    this.#told.clear();
    for (const { shard, ...position } of reading.value.shards) this.#told.set(shard, position);
  }

  #note(reason: string): void {
    this.#options.broker.noteUnreadable({ place: HISTORY_READ_SUBJECT, key: HISTORY_READ_SUBJECT, reason });
  }

  async #look(signal: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    for (let shard = 0; shard < LOG_SHARDS && !signal.aborted; shard += 1) {
      try {
        const head = await readStreamHead(this.#options.broker, logStream(shard));
        if (head === null) this.#created.delete(shard);
        else this.#created.set(shard, head.created);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) this.#options.onError(failures[0]);
  }
}
