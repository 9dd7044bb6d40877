import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '@berth/telemetry';
import { readBody, type RequestBody } from './request-body.js';
import { WorkerReply } from './worker-reply.js';

export interface Exchange {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  readonly authorization: string | undefined;
  readonly reply: WorkerReply;
  readBody(): Promise<RequestBody>;
}

/**
 * Longer than any SDK keeps an idle connection (15 s in aiohttp): a connection that we close first may take a result
 * with it, because a worker does not send again after a reset.
 */
const KEEP_ALIVE_MS = 120_000;
/** A result of many megabytes over a slow link. */
const REQUEST_MAX_MS = 600_000;

/** The one HTTP server of the bridge. Plain `node:http`: the contract is about bytes, timing and closed sockets. */
export class HttpListener {
  readonly #server: Server;
  readonly #serve: (exchange: Exchange) => Promise<void>;
  readonly #log: Logger;

  constructor(serve: (exchange: Exchange) => Promise<void>, log: Logger) {
    this.#serve = serve;
    this.#log = log;
    this.#server = createServer((request, response) => this.#accept(request, response));
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.headersTimeout = KEEP_ALIVE_MS + 5_000;
    this.#server.requestTimeout = REQUEST_MAX_MS;
  }

  /**
   * Listens on the first of these ports that nobody else has, and returns it.
   *
   * @param ports at least one; 0 picks a free one
   */
  async listen(host: string, [port = 0, ...others]: readonly number[]): Promise<number> {
    try {
      return await this.#listenOn(host, port);
    } catch (error) {
      if (others.length === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      return this.listen(host, others);
    }
  }

  #listenOn(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Stops listening and cuts what is still open. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    const reply = new WorkerReply(response);
    const exchange: Exchange = {
      method: request.method ?? '',
      target: request.url ?? '',
      authorization: request.headers.authorization,
      reply,
      readBody: () => readBody(request),
    };
    this.#serve(exchange).catch((error: unknown) => {
      this.#log.error('A call of a worker failed.', { method: exchange.method, target: exchange.target, error });
      void reply.send(503);
    });
  }
}
