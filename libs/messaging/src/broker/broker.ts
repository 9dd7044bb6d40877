import type { Members } from '@berth/domain/shape';
import { systemClock } from '@berth/lifecycle';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import {
  ConnectionError,
  TimeoutError,
  createInbox,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
} from '@nats-io/transport-node';
import { watchConnection } from '../connection-watch.js';
import { RequestsInFlight } from '../requests-in-flight.js';
import { brokerUnavailable, isUnanswered } from './broker-errors.js';
import { readAnswer, type BrokerAnswer } from './read-answer.js';
import type { UnreadableMessage } from '@berth/domain';

export interface BrokerOptions {
  readonly connection: NatsConnection;
  /** The same as the connection's: the only subjects below which this role may receive answers. */
  readonly inboxPrefix?: string | undefined;
  /** Longest wait for one answer. */
  readonly timeoutMs?: number;
  /** Told of every message that was come upon and could not be read. */
  readonly onUnreadable?: (message: UnreadableMessage) => void;
}

const TIMEOUT_DEFAULT_MS = 5_000;

interface Question {
  readonly subject: string;
  readonly body: Uint8Array | string | undefined;
  readonly headers: MsgHdrs | undefined;
}

/**
 * One connection as the adapters use it: requests that are sent once, with a deadline, and never again by themselves.
 * The client drops what is sent while the connection is lost, and lets what was on its way wait out its time; so here
 * the former waits until the connection is back, and the latter fails at once.
 */
export class Broker {
  readonly connection: NatsConnection;
  readonly timeoutMs: number;
  /** To be told of every message that was come upon and could not be read: it is counted, and named once. */
  readonly noteUnreadable: (message: UnreadableMessage) => void;
  readonly #inboxPrefix: string | undefined;
  readonly #requests: RequestsInFlight;
  /** Resolves when the connection is back; null while it stands. */
  #back: PromiseWithResolvers<void> | null = null;
  #manager: JetStreamManager | undefined;

  private constructor(options: BrokerOptions) {
    this.connection = options.connection;
    this.timeoutMs = options.timeoutMs ?? TIMEOUT_DEFAULT_MS;
    this.noteUnreadable = options.onUnreadable ?? (() => undefined);
    this.#inboxPrefix = options.inboxPrefix;
    this.#requests = new RequestsInFlight(options.connection);
    watchConnection(options.connection, {
      onLost: () => this.#lose(),
      onBack: () => {
        this.#back?.resolve();
        this.#back = null;
      },
    });
  }

  /** Asks nothing of the broker yet. */
  static async over(options: BrokerOptions): Promise<Broker> {
    const broker = new Broker(options);
    // The client's own API asks through the same door.
    const connection = Object.create(options.connection, {
      request: {
        value: (subject: string, body?: Uint8Array, { headers }: { headers?: MsgHdrs } = {}) =>
          broker.request(subject, body, headers),
      },
    }) as NatsConnection;
    broker.#manager = await jetstreamManager(connection, {
      checkAPI: false,
      // An older broker refuses what it does not know instead of dropping it.
      sendRequiredApiLevel: true,
      timeout: broker.timeoutMs,
    });
    return broker;
  }

  /** The management API, for what is done at start and in maintenance. Hot paths ask by `request`. */
  get manager(): JetStreamManager {
    if (this.#manager === undefined) throw new Error('A broker is made by `over`.');
    return this.#manager;
  }

  newInbox(): string {
    return createInbox(this.#inboxPrefix);
  }

  /**
   * Asks the JetStream API once.
   *
   * @param shape of the answer's members that are used
   * @throws PlatformError `service-unavailable` when no answer comes, or one that has not the shape
   */
  async ask<Answer extends object>(
    subject: string,
    question: string,
    shape: Members<Answer>,
  ): Promise<BrokerAnswer<Answer>> {
    const { data } = await this.askRaw(subject, question);
    const reading = readAnswer(shape, data);
    if (reading.kind === 'unreadable') throw brokerUnavailable(new Error(`answer to ${subject}: ${reading.reason}`));
    return reading.value;
  }

  /** Resolves when the connection stands: at once, as a rule. */
  async standing(): Promise<void> {
    await this.#back?.promise;
  }

  /**
   * Sends once and waits for one answer, at most `timeoutMs`.
   *
   * @throws what the client throws
   */
  request(subject: string, body?: Uint8Array | string, headers?: MsgHdrs): Promise<Msg> {
    const question = { subject, body, headers };
    return this.#back === null
      ? this.#send(question, this.timeoutMs)
      : this.#sendOnceBack(question, this.#back.promise);
  }

  async #sendOnceBack(question: Question, back: Promise<void>): Promise<Msg> {
    const askedAtMs = systemClock.monotonicMs();
    const patience = new AbortController();
    await Promise.race([back, systemClock.sleep(this.timeoutMs, patience.signal)]);
    patience.abort();
    const leftMs = this.timeoutMs - (systemClock.monotonicMs() - askedAtMs);
    if (leftMs < 1) throw new TimeoutError();
    return this.#send(question, leftMs);
  }

  #send({ subject, body, headers }: Question, timeoutMs: number): Promise<Msg> {
    const options = { timeout: timeoutMs, ...(headers === undefined ? {} : { headers }) };
    return this.#requests.send(subject, body, options);
  }

  #lose(): void {
    this.#back ??= Promise.withResolvers();
    this.#requests.failing()(new ConnectionError('the connection to the broker was lost'));
  }

  /** @throws PlatformError `service-unavailable` when no answer comes */
  async askRaw(subject: string, question?: string): Promise<Msg> {
    try {
      return await this.request(subject, question);
    } catch (error) {
      throw isUnanswered(error) ? brokerUnavailable(error) : error;
    }
  }
}
