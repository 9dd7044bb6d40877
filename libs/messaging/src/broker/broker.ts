import { TurnBatch } from '@berth/lifecycle';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { brokerUnavailable, isUnanswered, type ApiError } from './broker-errors.js';
import { decodeText } from './text.js';

export interface BrokerOptions {
  readonly connection: NatsConnection;
  /** The same as the connection's: the only subjects below which this role may receive answers. */
  readonly inboxPrefix?: string | undefined;
  /** Longest wait for one answer. */
  readonly timeoutMs?: number;
}

const TIMEOUT_DEFAULT_MS = 5_000;

/** One connection as the adapters use it: requests that are sent once, with a deadline, and never again by themselves. */
export class Broker {
  readonly connection: NatsConnection;
  readonly timeoutMs: number;
  /** The management API, for what is done at start and in maintenance. Hot paths ask by `request`. */
  readonly manager: JetStreamManager;
  readonly #inboxPrefix: string | undefined;
  readonly #sending = new TurnBatch();

  private constructor(options: BrokerOptions, manager: JetStreamManager) {
    this.connection = options.connection;
    this.timeoutMs = options.timeoutMs ?? TIMEOUT_DEFAULT_MS;
    this.#inboxPrefix = options.inboxPrefix;
    this.manager = manager;
  }

  /** Asks nothing of the broker yet. */
  static async over(options: BrokerOptions): Promise<Broker> {
    const timeout = options.timeoutMs ?? TIMEOUT_DEFAULT_MS;
    const manager = await jetstreamManager(options.connection, {
      checkAPI: false,
      // An older broker refuses what it does not know instead of dropping it.
      sendRequiredApiLevel: true,
      timeout,
    });
    return new Broker(options, manager);
  }

  newInbox(): string {
    return createInbox(this.#inboxPrefix);
  }

  /**
   * Asks the JetStream API once.
   *
   * @throws PlatformError `service-unavailable` when no answer comes
   */
  async ask<Answer>(subject: string, question: string): Promise<Answer & { readonly error?: ApiError }> {
    const answer = await this.askRaw(subject, question);
    return JSON.parse(decodeText(answer.data)) as Answer & { readonly error?: ApiError };
  }

  /**
   * Sends once and waits for one answer, at most `timeoutMs`. What is sent in one turn of the event loop leaves in one
   * write to the socket: under load a quarter of a router's time went into writes.
   *
   * @throws what the client throws
   */
  request(subject: string, body?: Uint8Array | string, headers?: MsgHdrs): Promise<Msg> {
    const options = { timeout: this.timeoutMs, ...(headers === undefined ? {} : { headers }) };
    return new Promise((resolve, reject) => {
      this.#sending.add(() => void this.connection.request(subject, body, options).then(resolve, reject));
    });
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
