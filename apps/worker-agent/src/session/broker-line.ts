import type { Logger } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';

export interface BrokerLineOptions {
  /** Stays with it until the connection stands or `signal` is aborted. */
  readonly connect: (signal: AbortSignal) => Promise<NatsConnection>;
  /** Called for every connection that stands anew. */
  readonly onOpen: (connection: NatsConnection) => void;
  readonly logger: Logger;
}

/** One connection to the broker, which is made again for as long as the line is open. */
export class BrokerLine {
  readonly #options: BrokerLineOptions;
  readonly #closing = new AbortController();
  #connection: NatsConnection | null = null;
  #connecting: Promise<void> | undefined;

  constructor(options: BrokerLineOptions) {
    this.#options = options;
  }

  /** Null while it does not stand. */
  get connection(): NatsConnection | null {
    return this.#connection;
  }

  /** Returns at once. */
  start(): void {
    this.#connecting ??= this.#stayConnected();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connection?.close();
    await this.#connecting;
  }

  async #stayConnected(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const connection = await this.#connect();
      if (connection === null) return;
      this.#connection = connection;
      this.#options.onOpen(connection);
      const error = await connection.closed();
      this.#connection = null;
      if (!this.#closing.signal.aborted)
        this.#options.logger.warn('the connection to the broker was closed', { error });
    }
  }

  async #connect(): Promise<NatsConnection | null> {
    try {
      const connection = await this.#options.connect(this.#closing.signal);
      if (!this.#closing.signal.aborted) return connection;
      // It came to stand while the line was being closed.
      await connection.close();
      return null;
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#options.logger.error('the broker cannot be used', { error });
      return null;
    }
  }
}
