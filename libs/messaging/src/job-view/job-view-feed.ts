import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { tellStream } from '../broker/tell-stream.js';
import { StreamTail } from '../broker/stream-tail.js';
import { JOB_SHARDS } from '../topology/shards.js';
import { STREAMS, recordStream } from '../topology/subjects.js';
import type { TailMessage } from '../broker/tail-session.js';
import { readJobEvent, type JobEvent } from './job-event.js';

export interface JobViewFeedOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  /** Where to go on in `EV`: the place of a checkpoint; `next` begins with the records alone. */
  readonly from: 'next' | { readonly evSequence: number };
  readonly onEvent: (event: JobEvent) => void;
  /** Every record that exists has been told since the feed, or the connection, was last new. */
  readonly onWhole?: () => void;
  /** From here until `onWhole` the view may miss something. */
  readonly onInterrupted?: (reason: string) => void;
}

/** Records are re-read at once when `EV` was interrupted, and tried again after this when that failed. */
const REREAD_RETRY_MS = 1_000;

const UNSOUND = 'its subject and headers are no version of a job';

/**
 * Tells a view every change of every job, by headers alone. `EV` is not synced, so after each interruption the records
 * themselves are read again: whatever `EV` lost, or gave another sequence, comes from there. Events may come twice and
 * out of order between the two ways; `recordSequence` says which is newer.
 */
export class JobViewFeed {
  readonly #options: JobViewFeedOptions;
  readonly #tail: StreamTail;
  readonly #reread: ControlLoop;
  #isTailing = false;
  /** Counts the sessions of the tail; records read during an earlier one do not make the view whole. */
  #round = 0;
  #wholeRound = 0;
  #waiters: (() => void)[] = [];

  constructor(options: JobViewFeedOptions) {
    this.#options = options;
    const { broker, clock, from } = options;
    this.#tail = new StreamTail({
      broker,
      clock,
      stream: STREAMS.events,
      isHeadersOnly: true,
      start: from === 'next' ? 'next' : { sequence: from.evSequence + 1 },
      onMessage: (message) => {
        this.#tell(message, 'events');
      },
      onCaughtUp: () => {
        this.#isTailing = true;
        this.#round += 1;
        this.#reread.hurry();
      },
      onInterrupted: (reason) => {
        this.#isTailing = false;
        options.onInterrupted?.(reason);
      },
    });
    this.#reread = new ControlLoop({
      name: 'job-view.reread',
      intervalMs: REREAD_RETRY_MS,
      clock,
      run: (signal) => this.#readRecords(signal),
      onError: (_name, error) => options.onInterrupted?.(error instanceof Error ? error.message : String(error)),
    });
  }

  /** Place in `EV` up to which everything has been told; to be kept with a checkpoint. */
  get evSequence(): number {
    return this.#tail.lastSequence;
  }

  get isWhole(): boolean {
    return this.#isTailing && this.#wholeRound === this.#round;
  }

  start(): void {
    this.#tail.start();
    this.#reread.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#tail.stop(), this.#reread.stop()]);
  }

  /** Resolves when the view knows every record. */
  async whole(): Promise<void> {
    while (!this.isWhole) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #tell(message: TailMessage, from: 'events' | 'records'): void {
    const { broker, onEvent } = this.#options;
    const event = readJobEvent(message, from);
    if (event !== null) onEvent(event);
    else broker.noteUnreadable({ place: 'records', key: message.subject, reason: UNSOUND });
  }

  async #readRecords(signal: AbortSignal): Promise<void> {
    const round = this.#round;
    if (!this.#isTailing || this.isWhole) return;
    const { broker, clock } = this.#options;
    for (let shard = 0; shard < JOB_SHARDS; shard += 1) {
      await tellStream({
        broker,
        clock,
        stream: recordStream(shard),
        signal,
        onMessage: (message) => {
          this.#tell(message, 'records');
        },
      });
    }
    if (signal.aborted) return;
    this.#wholeRound = round;
    if (!this.isWhole) return;
    this.#options.onWhole?.();
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
