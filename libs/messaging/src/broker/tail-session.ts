import type { Clock } from '@berth/lifecycle';
import { AckPolicy, DeliverPolicy, type ConsumerConfig, type ConsumerInfo } from '@nats-io/jetstream';
import { nanos, nuid, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import type { Broker } from './broker.js';

export interface TailMessage {
  readonly subject: string;
  readonly sequence: number;
  readonly headers: MsgHdrs | undefined;
  readonly body: Uint8Array;
}

/** Where a session begins: at one sequence, with the oldest message there is, or with the last one of each subject. */
export type TailStart = { readonly sequence: number } | 'everything' | 'last-of-each-subject';

export interface TailSessionOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly stream: string;
  /** Subjects wanted; all of the stream's when absent. */
  readonly filter?: string | undefined;
  readonly isHeadersOnly: boolean;
  readonly start: TailStart;
  readonly onMessage: (message: TailMessage) => void;
  /** Everything that was there when the session began has been told. */
  readonly onCaughtUp: () => void;
}

const BATCH = 500;
const PULL_EXPIRES_MS = 30_000;
const HEARTBEAT_MS = 5_000;
/** Two heartbeats and a little: then the consumer, or the way to it, is gone. */
const SILENCE_MAX_MS = 12_000;
const WATCH_INTERVAL_MS = 1_000;
/** How often the consumer's own state is compared with what arrived. */
const PROBE_INTERVAL_MS = 5_000;
/** A consumer whose reader has vanished removes itself. */
const INACTIVE_MS = 60_000;

/**
 * One consumer and one reader of it, in order and without a gap, until something is wrong: then it ends and says why,
 * and a new one takes over. It never repairs itself, so there is one way to recover and it is always used.
 */
export class TailSession {
  readonly #options: TailSessionOptions;
  readonly #name = `tail-${nuid.next()}`;
  readonly #inbox: string;
  readonly #ended: Promise<string>;
  #resolveEnded: (reason: string) => void = () => undefined;
  #hasEnded = false;
  #isCaughtUp = false;
  #heardAtMs: number;
  /** Messages still to come for the present pull. */
  #credit = 0;
  /** The consumer's count of what it delivered. */
  #delivered = 0;
  #deliveredAtProbe = 0;
  #wasStalled = false;

  constructor(options: TailSessionOptions) {
    this.#options = options;
    this.#inbox = options.broker.newInbox();
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#heardAtMs = options.clock.monotonicMs();
  }

  /** Resolves with the reason once the session is over. */
  async run(): Promise<string> {
    const { broker, clock, stream } = this.#options;
    const subscription = broker.connection.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error !== null) this.end(error.message);
        else this.#receiveSafely(message);
      },
    });
    const timers: (() => void)[] = [];
    try {
      const consumer = await broker.manager.consumers.add(stream, this.#consumerConfig());
      this.#heardAtMs = clock.monotonicMs();
      timers.push(
        clock.every(WATCH_INTERVAL_MS, () => this.#watchSilence()),
        clock.every(PROBE_INTERVAL_MS, () => void this.#probe()),
      );
      this.#pull();
      if (consumer.num_pending === 0) this.#markCaughtUp();
      return await this.#ended;
    } finally {
      this.end('closed');
      for (const stop of timers) stop();
      subscription.unsubscribe();
      // Only tidiness: it would remove itself after a minute.
      broker.manager.consumers.delete(stream, this.#name).catch(() => undefined);
    }
  }

  end(reason: string): void {
    this.#hasEnded = true;
    this.#resolveEnded(reason);
  }

  #consumerConfig(): Partial<ConsumerConfig> {
    const { filter, isHeadersOnly, start } = this.#options;
    return {
      name: this.#name,
      ack_policy: AckPolicy.None,
      ...startOf(start),
      ...(filter === undefined ? {} : { filter_subject: filter }),
      headers_only: isHeadersOnly,
      inactive_threshold: nanos(INACTIVE_MS),
      mem_storage: true,
      num_replicas: 1,
    };
  }

  #pull(): void {
    const { broker, stream } = this.#options;
    this.#credit = BATCH;
    const question = { batch: BATCH, expires: nanos(PULL_EXPIRES_MS), idle_heartbeat: nanos(HEARTBEAT_MS) };
    broker.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${this.#name}`, JSON.stringify(question), {
      reply: this.#inbox,
    });
  }

  /**
   * An error that escapes from a callback would end the client's reading loop, and with it everything on this
   * connection.
   */
  #receiveSafely(message: Msg): void {
    try {
      this.#receive(message);
    } catch (error) {
      this.end(`observer: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #receive(message: Msg): void {
    if (this.#hasEnded) return;
    this.#heardAtMs = this.#options.clock.monotonicMs();
    const position = message.reply === undefined ? null : readPosition(message.reply);
    if (position === null) {
      this.#receiveStatus(message);
      return;
    }
    if (position.delivered !== this.#delivered + 1) {
      this.end(`gap: delivery ${position.delivered} after ${this.#delivered}`);
      return;
    }
    this.#delivered = position.delivered;
    const { subject, headers, data } = message;
    this.#options.onMessage({ subject, sequence: position.sequence, headers, body: data });
    if (position.pending === 0) this.#markCaughtUp();
    this.#credit -= 1;
    if (this.#credit === 0) this.#pull();
  }

  /** Heartbeats only prove life; a pull that has run out is renewed; anything else means that the consumer is lost. */
  #receiveStatus({ headers }: Msg): void {
    const code = headers?.code ?? 0;
    if (code === STATUS.heartbeat) return;
    if (code === STATUS.pullExpired) this.#pull();
    else this.end(`consumer: ${headers?.status ?? 'unknown message'}`);
  }

  #markCaughtUp(): void {
    if (this.#isCaughtUp || this.#hasEnded) return;
    this.#isCaughtUp = true;
    this.#options.onCaughtUp();
  }

  #watchSilence(): void {
    const silentMs = this.#options.clock.monotonicMs() - this.#heardAtMs;
    if (silentMs > SILENCE_MAX_MS) this.end(`silent for ${Math.round(silentMs)} ms`);
  }

  /** A consumer that has something and does not send it looks alive by its heartbeats alone. */
  async #probe(): Promise<void> {
    const { broker, stream } = this.#options;
    try {
      const info = await broker.manager.consumers.info(stream, this.#name);
      const isStalled = this.#isStalled(info);
      // Once may be a message on its way; twice in a row is none.
      if (isStalled && this.#wasStalled) this.end(`stalled: ${info.num_pending} pending`);
      this.#wasStalled = isStalled;
      this.#deliveredAtProbe = this.#delivered;
    } catch (error) {
      this.end(`probe: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #isStalled({ num_pending: pending, delivered }: ConsumerInfo): boolean {
    const hasStoodStill = this.#deliveredAtProbe === this.#delivered;
    return hasStoodStill && (pending > 0 || delivered.consumer_seq > this.#delivered);
  }
}

function startOf(start: TailStart): Partial<ConsumerConfig> {
  switch (start) {
    case 'everything':
      // Most streams read so hold one message per subject; asking for the last of each would make the broker sort them.
      return { deliver_policy: DeliverPolicy.All };
    case 'last-of-each-subject':
      return { deliver_policy: DeliverPolicy.LastPerSubject };
    default:
      return { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Math.max(1, start.sequence) };
  }
}

const STATUS = { heartbeat: 100, pullExpired: 408 } as const;

interface Position {
  readonly delivered: number;
  readonly sequence: number;
  readonly pending: number;
}

const TOKENS_V1 = 9;

/**
 * Reads `$JS.ACK.{stream}.{consumer}.{tries}.{sequence}.{delivered}.{time}.{pending}`, or the longer form that has
 * domain and account before the stream and may have one more token behind.
 */
export function readPosition(reply: string): Position | null {
  if (!reply.startsWith('$JS.ACK.')) return null;
  const tokens = reply.split('.');
  const shift = tokens.length > TOKENS_V1 ? 2 : 0;
  const at = (index: number): number => Number(tokens[index + shift]);
  return { sequence: at(5), delivered: at(6), pending: at(8) };
}
