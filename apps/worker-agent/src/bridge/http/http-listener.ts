import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from '@berth/telemetry';
import { SMALL_BODY_MAX_BYTES, announcedBytes, readBody, type BodyReading, type RequestBody } from './request-body.js';
import { SocketPool } from './socket-pool.js';
import { WorkerReply } from './worker-reply.js';

export interface WorkerExchange {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  readonly authorization: string | undefined;
  /** Where it came from; every container has an address of its own, processes share one. */
  readonly remoteAddress: string;
  readonly reply: WorkerReply;
  /** It has said that its body is small, and cannot send more. */
  readonly isSmall: boolean;
  readBody(reading: BodyReading): Promise<RequestBody>;
  /** The call has shown the token of that worker. False: it has too many connections, and this one must end. */
  claim(workerId: string): boolean;
}

/**
 * Longer than any SDK keeps an idle connection (15 s in aiohttp): a connection that we close first may take a result
 * with it, because a worker does not send again after a reset.
 */
const KEEP_ALIVE_MS = 120_000;
/** From the connection, or the first byte of a further request, to its whole head. */
const HEADERS_MAX_MS = 10_000;
const HEADERS_LOOK_MS = 2_000;
/** Of all workers and strangers together. */
const SOCKETS_MAX = 16_384;
/** Requests of one socket that wait for their answers: no SDK sends one before the last is answered. */
const SENT_AHEAD_MAX = 8;
/** A result of many megabytes over a slow link. */
const REQUEST_MAX_MS = 600_000;

/** The one HTTP server of the bridge. Plain `node:http`: the contract is about bytes, timing and closed sockets. */
export class HttpListener {
  readonly #server: Server;
  readonly #serve: (exchange: WorkerExchange) => Promise<void>;
  readonly #log: Logger;
  readonly #sockets = new SocketPool();
  readonly #unanswered = new WeakMap<Socket, number>();

  constructor(serve: (exchange: WorkerExchange) => Promise<void>, log: Logger) {
    this.#serve = serve;
    this.#log = log;
    this.#server = createServer({ connectionsCheckingInterval: HEADERS_LOOK_MS }, (request, response) =>
      this.#accept(request, response),
    );
    this.#server.on('connection', (socket: Socket) => this.#sockets.add(socket));
    this.#server.maxConnections = SOCKETS_MAX;
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.headersTimeout = HEADERS_MAX_MS;
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

  /** False: what its socket sends is not served, nor anything made of it. */
  #admits({ socket }: IncomingMessage, response: ServerResponse): boolean {
    // The parser goes on through what it has read, also of a socket that was destroyed.
    if (socket.destroyed) return false;
    const unanswered = (this.#unanswered.get(socket) ?? 0) + 1;
    if (unanswered > SENT_AHEAD_MAX) {
      socket.destroy();
      return false;
    }
    this.#unanswered.set(socket, unanswered);
    response.once('close', () => this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 1) - 1));
    return true;
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#admits(request, response)) return;
    const reply = new WorkerReply(response);
    const exchange: WorkerExchange = {
      method: request.method ?? '',
      target: request.url ?? '',
      authorization: request.headers.authorization,
      remoteAddress: request.socket.remoteAddress ?? '',
      reply,
      isSmall: announcedBytes(request) <= SMALL_BODY_MAX_BYTES,
      readBody: (reading) => readBody(request, reading),
      claim: (workerId) => this.#sockets.claim(request.socket, workerId),
    };
    this.#serve(exchange).catch((error: unknown) => {
      this.#log.error('A call of a worker failed.', { method: exchange.method, target: exchange.target, error });
      void reply.send(503);
    });
  }
}
