import type { Clock } from '@berth/lifecycle';
import { watchConnection } from '../connection-watch.js';
import type { Broker } from './broker.js';
import { TailSession, type TailMessage, type TailStart } from './tail-session.js';

export interface StreamTailOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly stream: string;
  readonly filter?: string;
  readonly isHeadersOnly: boolean;
  /**
   * `everything`: every session tells all that is there, so what is no longer told is gone.
   * `next`: from the stream's present end on. A sequence: from there. Both go on after an interruption where they were,
   * and where the stream is another one, from its end or its beginning.
   */
  readonly start: Exclude<TailStart, 'last-of-each-subject'> | 'next';
  /** Before anything of a new session is told. On another stream under the old name, sequences begin anew. */
  readonly onStart?: (isSameStream: boolean) => void;
  readonly onMessage: (message: TailMessage) => void;
  readonly onCaughtUp?: () => void;
  /** The session is over; until the next `onCaughtUp` something may be missing. */
  readonly onInterrupted?: (reason: string) => void;
}

const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 2_000;

/**
 * Follows a stream for ever: through lost consumers, reconnects, restarts of the broker, and a stream that was deleted
 * and made again. Every message is told at least once and in order.
 */
export class StreamTail {
  readonly #options: StreamTailOptions;
  readonly #stop = new AbortController();
  #session: TailSession | undefined;
  #finished: Promise<void> | undefined;
  /** When the stream was made: another instant means another stream under the old name. */
  #created: string | undefined;
  #lastSequence = 0;
  #pauseMs = PAUSE_MIN_MS;

  constructor(options: StreamTailOptions) {
    this.#options = options;
  }

  /** Sequence of the last message told, or the one before the first that will be. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** Starting twice is the same as starting once. */
  start(): void {
    if (this.#finished !== undefined) return;
    this.#finished = this.#loop();
    const end = (reason: string): void => this.#session?.end(reason);
    // A connection that was lost takes the session with it at once; its silence would be noticed much later.
    watchConnection(this.#options.broker.connection, {
      onLost: () => end('disconnect'),
      onBack: () => end('reconnect'),
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#session?.end('stopped');
    await this.#finished;
  }

  async #loop(): Promise<void> {
    const { clock, onInterrupted } = this.#options;
    const { signal } = this.#stop;
    const stopped = new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true });
    });
    while (!signal.aborted) {
      await Promise.race([this.#options.broker.standing(), stopped]);
      const reason = await this.#runSession();
      if (signal.aborted) return;
      onInterrupted?.(reason);
      await clock.sleep(this.#pauseMs, signal);
      this.#pauseMs = Math.min(PAUSE_MAX_MS, this.#pauseMs * 2);
    }
  }

  async #runSession(): Promise<string> {
    const { broker, clock, stream, filter, isHeadersOnly, onMessage, onCaughtUp, onStart } = this.#options;
    try {
      const { start, isSameStream } = await this.#nextStart();
      if (this.#stop.signal.aborted) return 'stopped';
      onStart?.(isSameStream);
      this.#session = new TailSession({
        broker,
        clock,
        stream,
        filter,
        isHeadersOnly,
        start,
        onMessage: (message) => {
          this.#lastSequence = message.sequence;
          onMessage(message);
        },
        onCaughtUp: () => {
          this.#pauseMs = PAUSE_MIN_MS;
          onCaughtUp?.();
        },
      });
      return await this.#session.run();
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.#session = undefined;
    }
  }

  async #nextStart(): Promise<{ readonly start: TailStart; readonly isSameStream: boolean }> {
    const { broker, stream, start } = this.#options;
    const { created, state } = await broker.manager.streams.info(stream);
    const isFirst = this.#created === undefined;
    const isSameStream = this.#created === created && this.#lastSequence <= state.last_seq;
    this.#created = created;
    if (start === 'everything') return { start, isSameStream };
    if (!isSameStream) {
      const from = isFirst && start !== 'next' ? start.sequence : 1;
      this.#lastSequence = start === 'next' ? state.last_seq : from - 1;
    }
    return { start: { sequence: this.#lastSequence + 1 }, isSameStream };
  }
}
