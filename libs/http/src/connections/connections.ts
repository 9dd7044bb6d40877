import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PlatformError } from '@berth/domain';
import type { MetricRegistry } from '@berth/telemetry';
import type { FastifyInstance } from 'fastify';
import { socketNetwork } from '../callers/caller-address.js';
import type { TrustedProxies } from '../callers/trusted-proxies.js';
import { connectionMetrics, type ConnectionMetrics } from '../metrics.js';
import { FairPool } from './fair-pool.js';
import { PIPELINED_MAX, PipelinedRequests } from './pipelined-requests.js';

/** Connections on which nobody has shown a good key yet. */
const WITHOUT_KEY_MAX = 1_024;

/** Connections of accounts, each of which is proven by a request with a good key. */
const WITH_KEY_MAX = 10_000;

/** Connections of callers without a key to what accounts have opened to everybody. */
const OF_GUESTS_MAX = 10_000;

/** Of one connection: each request under way may wait for its end in a few places. */
const LISTENERS_MAX = 8 * PIPELINED_MAX;

export interface ConnectionsOptions {
  readonly metrics: MetricRegistry;
  readonly proxies: TrustedProxies;
}

/**
 * The connections of callers. Those without a key have a room of their own, so that they never take that of others; guests of
 * an account have another one, in which a flood costs the account that it is for.
 */
export class Connections {
  readonly #proxies: TrustedProxies;
  readonly #metrics: ConnectionMetrics;
  readonly #withoutKey = new FairPool<Socket>({ membersMax: WITHOUT_KEY_MAX });
  readonly #sentAhead: PipelinedRequests = new PipelinedRequests({
    isTrusted: (socket) => !this.#withoutKey.has(socket) && !this.#ofGuests.has(socket),
  });
  readonly #withKey = new FairPool<Socket>({
    membersMax: WITH_KEY_MAX,
    isIdle: (socket) => this.#sentAhead.isIdle(socket),
  });
  readonly #ofGuests: FairPool<Socket> = new FairPool<Socket>({
    membersMax: OF_GUESTS_MAX,
    isIdle: (socket) => this.#sentAhead.isIdle(socket),
  });

  constructor({ metrics, proxies }: ConnectionsOptions) {
    this.#proxies = proxies;
    this.#metrics = connectionMetrics(metrics, {
      withKey: () => this.#withKey.size,
      withoutKey: () => this.#withoutKey.size,
      ofGuests: () => this.#ofGuests.size,
    });
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      socket.setMaxListeners(LISTENERS_MAX);
      socket.once('close', () => {
        this.#withoutKey.remove(socket);
        this.#withKey.remove(socket);
        this.#ofGuests.remove(socket);
        this.#sentAhead.goOn(socket);
      });
      // A proxy's connections are anybody's, and as many as the proxy means to have.
      if (this.#proxies.has(socket.remoteAddress ?? '')) return;
      this.#makeRoom(this.#withoutKey.add(socket, socketNetwork(socket.remoteAddress)), 'without-key');
    });
  }

  countRequests(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
      const isCounted = this.#count(socket, reply.raw, () =>
        done(socket.destroyed ? new PlatformError('malformed-request', 'The connection is gone.') : undefined),
      );
      if (!isCounted) done(new PlatformError('malformed-request', 'Too many requests at one time on one connection.'));
    });
  }

  /**
   * A request that somebody else answers, which is under way until this closes.
   *
   * @param onTurn called at once or later; never where the connection is gone by then, or has sent too much ahead
   */
  countHandedOn(socket: Socket, until: ServerResponse | Socket, onTurn: () => void): void {
    this.#count(socket, until, () => {
      if (!socket.destroyed) onTurn();
    });
  }

  /** A caller has shown a good key on it. */
  prove(socket: Socket, accountId: string): void {
    if (!this.#withoutKey.has(socket) && !this.#ofGuests.has(socket)) return;
    this.#withoutKey.remove(socket);
    this.#ofGuests.remove(socket);
    this.#sentAhead.goOn(socket);
    this.#makeRoom(this.#withKey.add(socket, accountId), 'with-key');
  }

  /** A caller without a key asks on it for what this account has opened to everybody: it stays a guest of that one. */
  welcome(socket: Socket, accountId: string): void {
    if (!this.#withoutKey.has(socket)) return;
    this.#withoutKey.remove(socket);
    this.#makeRoom(this.#ofGuests.add(socket, accountId), 'guest');
  }

  /** No request is under way on it. */
  isIdle(socket: Socket): boolean {
    return this.#sentAhead.isIdle(socket);
  }

  /** False: there are too many already, and the connection is closed. */
  #count(socket: Socket, until: ServerResponse | Socket, onTurn: () => void): boolean {
    const answered = this.#sentAhead.begin(socket, onTurn);
    if (answered === null) {
      this.#metrics.closed.inc({ reason: 'sent-ahead' });
      socket.destroy();
      return false;
    }
    until.once('close', answered);
    return true;
  }

  #makeRoom(leaving: Socket | undefined, reason: string): void {
    if (leaving === undefined) return;
    this.#metrics.closed.inc({ reason });
    leaving.destroy();
  }
}
