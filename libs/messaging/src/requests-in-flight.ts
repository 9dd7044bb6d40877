import { atEndOfTurn } from '@berth/lifecycle';
import type { Msg, NatsConnection, RequestOptions } from '@nats-io/transport-node';

/**
 * The requests of one connection that wait for their answers, so that they can be failed before their time. Requests of
 * one turn of the event loop leave in one write to the socket: under load a quarter of a router's time went into
 * writes.
 */
export class RequestsInFlight {
  readonly #connection: NatsConnection;
  readonly #unanswered = new Set<(error: Error) => void>();

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  /** @throws what the client throws, or what the request was failed with */
  send(subject: string, body: Uint8Array | string | undefined, options: RequestOptions): Promise<Msg> {
    const { promise, resolve, reject } = Promise.withResolvers<Msg>();
    this.#unanswered.add(reject);
    const settle = (): unknown => this.#unanswered.delete(reject);
    atEndOfTurn(() => {
      void this.#connection.request(subject, body, options).then(resolve, reject).finally(settle);
    });
    return promise;
  }

  /** For the requests that have no answer now: what it gives fails those that still have none when it is called. */
  failing(): (error: Error) => void {
    const unanswered = [...this.#unanswered];
    return (error) => {
      for (const reject of unanswered) reject(error);
    };
  }
}
